// Headless coding agents, wrappers and tests have no HTTP interface, so a local program can serve
// as a model. The command line is split into words and run without a shell, so nothing in it is
// expanded. The program gets the whole conversation as one text on standard input. Its standard
// output is the answer, as plain text or as a JSON object with usage. A protocol with messages
// would allow tools and streaming, but then every program would need an adapter. The cost: each
// exchange starts a process and sends the whole conversation again, and output over 10 MB is an
// error.
#include "llm/command_provider.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/text.h"
#include "llm/clock.h"
#include "llm/wire.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "os/process.h"

namespace kw::llm {
namespace {

constexpr uint64_t kMostOutput = 10'000'000;
constexpr size_t kErrorTail = 600;

Failure failed(FailureKind kind, std::string message, double seconds) {
  return Failure{
      .kind = kind, .message = std::move(message), .sent = true, .latency_seconds = seconds};
}

std::string tail(const std::string& text) {
  const std::string_view trimmed = trim(text);
  return trimmed.size() <= kErrorTail
             ? std::string(trimmed)
             : "…" + std::string(trimmed.substr(trimmed.size() - kErrorTail));
}

Usage usage_of(const Json& usage) {
  return Usage{.known = usage["input_tokens"].is_int() && usage["output_tokens"].is_int(),
               .input = usage["input_tokens"].as_int(),
               .output = usage["output_tokens"].as_int(),
               .cache_read = usage["cache_read_input_tokens"].as_int(),
               .cache_write = usage["cache_creation_input_tokens"].as_int()};
}

Reply reply_of(const std::string& out) {
  Reply reply;
  reply.text = out;
  if (!trim(out).starts_with('{')) return reply;
  const auto json = Json::parse(out);
  if (!json) return reply;
  for (const char* key : {"text", "result"}) {
    if (!(*json)[key].is_string()) continue;
    reply.text = (*json)[key].as_string();
    reply.usage = usage_of((*json)["usage"]);
    break;
  }
  return reply;
}

Outcome outcome_of(const std::string& program, const os::ProcessResult& result, double seconds,
                   double limit) {
  const auto fail = [&](FailureKind kind, const std::string& what) {
    return failed(kind, program + ": " + what, seconds);
  };
  if (result.timed_out)
    return fail(FailureKind::Timeout, fmt::format("no answer within {:.0f} s", limit));
  if (result.out.size() >= kMostOutput)
    return fail(FailureKind::InvalidReply, "the answer is larger than 10 MB");
  if (result.signal != 0)
    return fail(FailureKind::Server, fmt::format("killed by signal {}", result.signal));
  if (result.exit_code != 0) {
    const std::string said = tail(result.err);
    return fail(FailureKind::Server, fmt::format("it exited with {}{}{}", result.exit_code,
                                                 said.empty() ? "" : ": ", said));
  }
  Reply reply = reply_of(result.out);
  if (trim(reply.text).empty()) return fail(FailureKind::InvalidReply, "it answered nothing");
  reply.stop_word = "exit 0";
  reply.provider = "command";
  reply.latency_seconds = seconds;
  return reply;
}

}  // namespace

Result<std::vector<std::string>> split_command(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun, perhaps an empty one in quotes
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (open) words.push_back(std::exchange(word, ""));
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (quote != 0) return input_error("a quote is not closed in: {}", line);
  if (open) words.push_back(word);
  if (words.empty()) return input_error("command: names no program");
  return words;
}

std::string conversation_text(const Request& request) {
  const std::string system = joined_system(request);
  if (system.empty() && request.messages.size() == 1) return request.messages[0].text;
  std::string text;
  if (!system.empty()) text += "# Instructions\n\n" + system + "\n\n";
  for (const Message& message : request.messages) {
    text += message.role == MessageRole::User ? "# User\n\n" : "# Your answer\n\n";
    text += message.text + "\n\n";
  }
  return text + "# Your answer\n";
}

Outcome CommandProvider::complete(const Request& request, const Watch& watch) {
  auto words = split_command(request.model);
  if (!words) {
    Failure failure = failed(FailureKind::NotFound, words.error().message, 0);
    failure.sent = false;
    return failure;
  }
  // A program name with a '/' is a path relative to the current folder, as in a shell.
  if (words->front().find('/') != std::string::npos)
    words->front() = std::filesystem::absolute(words->front()).string();
  os::ProcessLimits limits;
  limits.timeout_seconds = request.timeout_seconds;
  limits.output_bytes = kMostOutput;
  limits.end_when_cut = true;
  limits.stop = watch.cancelled;
  limits.environment = os::Environment::Everything;
  const double start = real_clock().now();
  auto result = os::run_process(*words, conversation_text(request), limits);
  const double seconds = real_clock().now() - start;
  if (!result) {
    const bool stopped = os::interrupted() || (watch.cancelled && watch.cancelled());
    Failure failure = failed(stopped ? FailureKind::Cancelled : FailureKind::Unavailable,
                             stopped ? "stopped by the user" : result.error().message, seconds);
    failure.sent = stopped;
    return failure;
  }
  Outcome outcome = outcome_of((*words)[0], *result, seconds, request.timeout_seconds);
  if (outcome) {
    outcome->model = (*words)[0];
    if (watch.on_text) watch.on_text(outcome->text);
  }
  return outcome;
}

}  // namespace kw::llm
