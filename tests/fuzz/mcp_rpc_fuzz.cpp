// Fuzzes the door for agents: any line must become messages or refusals, every request must get
// exactly one answer with its own id, and every answer must be a line of JSON that says one thing.
// Plain program: mcp_rpc_fuzz CORPUS_DIR SEED ITERATIONS, where the corpus are recorded
// conversations. With -DKW_LIBFUZZER it is a libFuzzer target instead.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "mcp/http.h"
#include "mcp/line_reader.h"
#include "mcp/server.h"

namespace {

using kw::Json;
using kw::mcp::Incoming;
using kw::mcp::Message;

void require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "mcp_rpc_fuzz: %s: %s\n", what, text.substr(0, 2000).c_str());
  std::abort();
}

class Nowhere : public kw::mcp::Sink {
 public:
  void send(const Json& message) override {
    require(message["jsonrpc"].as_string() == "2.0" && !message["method"].as_string().empty(),
            "what is told is a notification", message.dump());
  }
  bool gone() override { return false; }
};

/// Commands that end at once: what matters here is how they are asked for.
kw::Result<Json> no_command(const std::vector<std::string>& words, const kw::mcp::Callbacks& told) {
  told.progress("at work");
  require(!words.empty() && !words.front().empty(), "a command has a name", "");
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin() + 1; word != end; ++word)
    require(word->rfind("--", 0) == 0, "before the files there are options only", *word);
  return Json::object().set("ok", true).set("exit_code", 0);
}

kw::mcp::Server& server() {
  static kw::mcp::Server made = [] {
    kw::mcp::ServerSettings settings;
    settings.version = "0";
    settings.roots = *kw::mcp::Roots::open({"/usr/share"});
    settings.tools = kw::mcp::offered_tools(false);
    settings.runner = no_command;
    return kw::mcp::Server(std::move(settings));
  }();
  return made;
}

void check_reply(const Json& reply, const Json& id) {
  const std::string text = reply.dump();
  require(text.find('\n') == std::string::npos, "an answer is one line", text);
  require(static_cast<bool>(Json::parse(text)), "an answer is JSON", text);
  require(reply["id"].dump() == id.dump(), "an answer has the request's id", text);
  require(reply.contains("result") != reply.contains("error"), "a result or an error", text);
}

void serve(kw::mcp::Session& session, const Message& message) {
  Nowhere sink;
  if (message.kind == Message::Kind::Notification) return server().note(session, message);
  if (message.kind == Message::Kind::Response) return;
  const auto call = session.open(message.id);
  require(call != nullptr, "nothing is under way", message.method);
  const auto reply = server().serve(session, message, sink, *call);
  session.close(message.id);
  require(reply.has_value(), "a request is answered", message.method);
  check_reply(*reply, message.id);
}

void check(const std::string& text) {
  kw::mcp::LineReader reader(1 << 16);
  kw::mcp::Session session("fuzz");
  auto lines = reader.add(text);
  for (auto& line : reader.finish()) lines.push_back(std::move(line));
  for (const auto& line : lines) {
    require(line.too_long == line.text.empty(), "a line or nothing", line.text);
    const Incoming incoming = kw::mcp::read_messages(line.text);
    require(!incoming.items.empty(), "a text is answered somehow", line.text);
    for (const auto& item : incoming.items) {
      if (const auto* refusal = std::get_if<Json>(&item)) {
        check_reply(*refusal, (*refusal)["id"]);
      } else {
        serve(session, std::get<Message>(item));
      }
    }
  }
  kw::mcp::read_head(text);
}

const std::vector<std::string> kPieces = {"\n",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "\"",
                                          "\\",
                                          "null",
                                          "true",
                                          "-1",
                                          "1e999",
                                          "9223372036854775808",
                                          "\"jsonrpc\":\"2.0\"",
                                          "\"id\":",
                                          "\"method\":\"tools/call\"",
                                          "\"params\":",
                                          "\"arguments\":",
                                          "\"_meta\":",
                                          "\"../../etc/passwd\"",
                                          "\"--help\"",
                                          "\"module_text\":\"x\"",
                                          "\"cursor\":",
                                          "\"uri\":\"kernelwright://runs/\"",
                                          "\"name\":\"verify_kernel\"",
                                          "\xff",
                                          "\\u0000",
                                          "\\ud800",
                                          "\r\n\r\n",
                                          "HTTP/1.1"};

std::string mutate(std::string text, const std::vector<std::string>& corpus,
                   std::mt19937_64& random) {
  const auto pick = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + pick(6); edits > 0; --edits) {
    const size_t at = pick(text.size() + 1);
    const std::string& other = corpus[pick(corpus.size())];
    switch (pick(6)) {
      case 0:
        text.insert(at, kPieces[pick(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + pick(20));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        text.insert(at, other.substr(pick(other.size()), 1 + pick(80)));
        break;
      case 4:
        text += "\n" + other;
        break;
      default:
        text.replace(at, 1, kPieces[pick(kPieces.size())]);
    }
  }
  return text;
}

[[maybe_unused]] int run_deterministic(const std::string& folder, uint64_t seed, long iterations) {
  std::vector<std::string> paths, corpus;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("> ", 0) == 0) corpus.push_back(line.substr(2));
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "mcp_rpc_fuzz: no recorded conversation in %s\n", folder.c_str());
    return 2;
  }
  for (const std::string& line : corpus) check(line);
  std::mt19937_64 random(seed);
  for (long i = 0; i < iterations; ++i)
    check(mutate(corpus[random() % corpus.size()], corpus, random));
  std::printf("mcp_rpc_fuzz: %zu lines, %ld mutants\n", corpus.size(), iterations);
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef KW_LIBFUZZER
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: mcp_rpc_fuzz CORPUS_DIR SEED ITERATIONS\n");
    return 2;
  }
  return run_deterministic(argv[1], std::strtoull(argv[2], nullptr, 10),
                           std::strtol(argv[3], nullptr, 10));
}
#endif
