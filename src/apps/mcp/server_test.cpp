#include "mcp/server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "mcp/line_reader.h"
#include "mcp/stdio.h"

namespace kw::mcp {
namespace {

class KeptSink : public Sink {
 public:
  void send(const Json& message) override { sent.push_back(message); }
  bool gone() override { return false; }
  std::vector<Json> sent;
};

Result<Json> fake_command(const std::vector<std::string>& words, const Callbacks& callbacks) {
  callbacks.progress("first");
  callbacks.note("a note");
  if (words.front() == "doctor") return Json::object().set("ok", true).set("exit_code", 0);
  if (words.front() == "runs") {
    Json run = Json::object().set("id", "r1").set("name", "n").set("status", "passed");
    return Json::object().set("runs", Json::array().push(run));
  }
  if (words.front() == "inspect")
    return Json::object().set("report", Json::object().set("answer", 42)).set("text", "// code");
  if (words.front() == "catalog")
    return Json::object().set(
        "error", Json::object().set("blame", "input").set("message", "no such method"));
  while (!callbacks.stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return environment_error("stopped");
}

ServerSettings fake_settings() {
  ServerSettings settings;
  settings.version = "9.9";
  settings.roots = *Roots::open({"/"});
  settings.tools = offered_tools(false);
  settings.runner = fake_command;
  return settings;
}

class Protocol : public testing::Test {
 protected:
  Json ask(const std::string& method, const std::string& params = "{}") {
    Message message;
    message.id = ++id_;
    message.method = method;
    message.params = *Json::parse(params);
    ClientCall call;
    const auto reply = server_.serve(session_, message, sink_, call);
    return reply ? *reply : Json();
  }
  void shake_hands(const char* revision = "2025-11-25") {
    const Json reply = ask("initialize", std::string(R"({"protocolVersion":")") + revision +
                                             R"(","capabilities":{}})");
    EXPECT_TRUE(reply.contains("result")) << reply.dump();
  }
  static int64_t code(const Json& reply) { return reply["error"]["code"].as_int(); }

  Server server_{fake_settings()};
  Session session_{"test"};
  KeptSink sink_;
  int id_ = 0;
};

TEST_F(Protocol, NothingBeforeTheHandshakeButPing) {
  EXPECT_EQ(code(ask("tools/list")), kInvalidRequest);
  EXPECT_TRUE(ask("ping")["result"].is_object());
  shake_hands();
  EXPECT_TRUE(ask("tools/list").contains("result"));
  EXPECT_EQ(code(ask("initialize", R"({"protocolVersion":"2025-11-25"})")), kInvalidRequest);
}

struct Agreed {
  const char* asked;
  const char* given;
};
class Negotiation : public testing::TestWithParam<Agreed> {};

TEST_P(Negotiation, GivesWhatIsSpoken) {
  Server server(fake_settings());
  Session session("s");
  KeptSink sink;
  ClientCall call;
  Message message;
  message.id = 1;
  message.method = "initialize";
  message.params = Json::object().set("protocolVersion", GetParam().asked);
  const Json reply = *server.serve(session, message, sink, call);
  EXPECT_EQ(reply["result"]["protocolVersion"].as_string(), GetParam().given);
  EXPECT_EQ(reply["result"]["serverInfo"]["version"].as_string(), "9.9");
}

INSTANTIATE_TEST_SUITE_P(
    Table, Negotiation,
    testing::Values(Agreed{"2024-11-05", "2024-11-05"}, Agreed{"2025-03-26", "2025-03-26"},
                    Agreed{"2025-06-18", "2025-06-18"}, Agreed{"2025-11-25", "2025-11-25"},
                    Agreed{"2026-07-28", "2025-11-25"}, Agreed{"1999-01-01", "2025-11-25"},
                    Agreed{"", "2025-11-25"}));

TEST_F(Protocol, AHandshakeNeedsAVersion) { EXPECT_EQ(code(ask("initialize")), kInvalidParams); }

constexpr const char* kNamed =
    R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}})";

TEST_F(Protocol, StatelessRequestsNeedNoHandshake) {
  const Json found = ask("server/discover", kNamed)["result"];
  EXPECT_EQ(found["resultType"].as_string(), "complete");
  EXPECT_EQ(found["supportedVersions"].items().back().as_string(), "2026-07-28");
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].as_string(),
            "kernelwright");
  EXPECT_TRUE(found["ttlMs"].is_int());
  const Json tools = ask("tools/list", kNamed)["result"];
  EXPECT_EQ(tools["cacheScope"].as_string(), "private");
  EXPECT_EQ(code(ask("ping", kNamed)), kMethodNotFound);
  EXPECT_EQ(code(ask("logging/setLevel", kNamed)), kMethodNotFound);
}

TEST_F(Protocol, StatelessRequestsMustSayAllOfIt) {
  EXPECT_EQ(code(ask("tools/list",
                     R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})")),
            kInvalidParams);
  EXPECT_EQ(code(ask("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":7,
                     "io.modelcontextprotocol/clientCapabilities":{}}})")),
            kInvalidParams);
  const Json other =
      ask("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01",
                                           "io.modelcontextprotocol/clientCapabilities":{}}})");
  EXPECT_EQ(code(other), kUnsupportedRevision);
  EXPECT_EQ(other["error"]["data"]["supported"].items().size(), revisions().size());
}

TEST_F(Protocol, OlderRevisionsAreSparedWhatTheyDoNotKnow) {
  shake_hands("2024-11-05");
  const Json tool = ask("tools/list")["result"]["tools"].items().front();
  EXPECT_FALSE(tool.contains("title") || tool.contains("outputSchema") ||
               tool.contains("annotations"));
  const Json result = ask("tools/call", R"({"name":"doctor"})")["result"];
  EXPECT_FALSE(result.contains("structuredContent"));
  EXPECT_EQ(result["content"].items().size(), 1U);
}

TEST_F(Protocol, CallsGiveStructureAndText) {
  shake_hands();
  const Json result = ask(
      "tools/call", R"({"name":"doctor","arguments":{},"_meta":{"progressToken":"p"}})")["result"];
  EXPECT_TRUE(result["structuredContent"]["ok"].as_bool());
  EXPECT_EQ(result["content"].items().front()["text"].as_string(),
            result["structuredContent"].dump());
  EXPECT_FALSE(result["isError"].as_bool(true));
  ASSERT_EQ(sink_.sent.size(), 1U);
  EXPECT_EQ(sink_.sent[0]["params"].dump(),
            R"({"progressToken":"p","progress":1,"message":"first"})");
}

TEST_F(Protocol, NotesAreLoggedToThoseWhoAsked) {
  shake_hands();
  EXPECT_EQ(code(ask("logging/setLevel", R"({"level":"loud"})")), kInvalidParams);
  ask("tools/call", R"({"name":"doctor"})");
  EXPECT_TRUE(sink_.sent.empty());
  ask("logging/setLevel", R"({"level":"info"})");
  ask("tools/call", R"({"name":"doctor"})");
  ASSERT_EQ(sink_.sent.size(), 1U);
  EXPECT_EQ(sink_.sent[0]["params"]["data"].as_string(), "a note");
}

TEST_F(Protocol, BadCallsAreToldApart) {
  shake_hands();
  const Json unknown = ask("tools/call", R"({"name":"verify_kernels"})");
  EXPECT_EQ(code(unknown), kInvalidParams);
  EXPECT_NE(unknown.dump().find("did you mean 'verify_kernel'"), std::string::npos);
  EXPECT_EQ(code(ask("tools/call", R"({"name":"doctor","arguments":[1]})")), kInvalidParams);
  EXPECT_EQ(code(ask("tools/call")), kInvalidParams);
  const Json bad = ask("tools/call", R"({"name":"doctor","arguments":{"x":1}})")["result"];
  EXPECT_TRUE(bad["isError"].as_bool()) << "what a model can repair is said to the model";
  EXPECT_EQ(code(ask("no/such")), kMethodNotFound);
}

TEST_F(Protocol, WholeNumbersMayHaveAPoint) {
  shake_hands();
  const char* call =
      R"({"name":"verify_kernel","arguments":{"module_text":"x","reference_text":"y","dims":{"B":8.0},"seed":3.0,"background":true}})";
  EXPECT_FALSE(ask("tools/call", call)["result"]["isError"].as_bool(true));
  const char* half =
      R"({"name":"verify_kernel","arguments":{"module_text":"x","reference_text":"y","dims":{"B":8.5}}})";
  EXPECT_TRUE(ask("tools/call", half)["result"]["isError"].as_bool());
}

TEST_F(Protocol, JobsAreHandedOutAskedAboutAndStopped) {
  shake_hands();
  const Json handle = ask("tools/call", R"({"name":"verify_kernel","arguments":
      {"module_text":"x","reference_text":"y","background":true}})")["result"]["structuredContent"];
  const std::string job = handle["job"].as_string();
  ASSERT_FALSE(job.empty()) << handle.dump();
  const auto of_job = [&](const char* tool) {
    return ask("tools/call", std::string(R"({"name":")") + tool + R"(","arguments":{"job":")" +
                                 job + "\"}}")["result"];
  };
  const std::string state = of_job("job_status")["structuredContent"]["state"].as_string();
  EXPECT_TRUE(state == "queued" || state == "running") << state;
  EXPECT_EQ(of_job("job_result")["structuredContent"]["job"].as_string(), job);
  of_job("job_cancel");
  while (of_job("job_status")["structuredContent"]["state"].as_string() != "cancelled")
    std::this_thread::yield();
  EXPECT_TRUE(of_job("job_result")["isError"].as_bool());
  EXPECT_TRUE(ask("tools/call",
                  R"({"name":"job_status","arguments":{"job":"job-99"}})")["result"]["isError"]
                  .as_bool());
  EXPECT_EQ(ask("tools/call", R"({"name":"job_status"})")["result"]["structuredContent"]["jobs"]
                .items()
                .size(),
            1U);
}

TEST_F(Protocol, PatienceEndsInAHandle) {
  shake_hands();
  const Json result = ask("tools/call", R"({"name":"verify_kernel","arguments":
      {"module_text":"x","reference_text":"y","wait_seconds":0.01}})")["result"];
  EXPECT_FALSE(result["structuredContent"]["job"].as_string().empty()) << result.dump();
}

TEST_F(Protocol, ACancelledRequestIsNotAnswered) {
  shake_hands();
  Message message;
  message.id = "c";
  message.method = "tools/call";
  message.params = *Json::parse(
      R"({"name":"verify_kernel","arguments":{"module_text":"x","reference_text":"y"}})");
  const auto call = session_.open(message.id);
  ASSERT_TRUE(call);
  EXPECT_FALSE(session_.open(message.id)) << "its id is in use";
  std::optional<Json> reply;
  std::thread worker([&] { reply = server_.serve(session_, message, sink_, *call); });
  Message cancel;
  cancel.kind = Message::Kind::Notification;
  cancel.method = "notifications/cancelled";
  cancel.params = Json::object().set("requestId", "c");
  server_.note(session_, cancel);
  worker.join();
  EXPECT_FALSE(reply);
}

TEST_F(Protocol, ResourcesAreListedAndRead) {
  shake_hands();
  const Json::Array rows = ask("resources/list")["result"]["resources"].items();
  const auto has = [&](const char* uri) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Json& row) { return row["uri"].as_string() == uri; });
  };
  for (const char* uri :
       {"kernelwright://docs/cli", "kernelwright://catalog", "kernelwright://runs",
        "kernelwright://runs/r1/report", "kernelwright://skill/SKILL.md"})
    EXPECT_TRUE(has(uri)) << uri;
  const auto text = [&](const std::string& uri) {
    return ask("resources/read", R"({"uri":")" + uri + "\"}")["result"]["contents"]
        .items()
        .front()["text"]
        .as_string();
  };
  EXPECT_TRUE(text("kernelwright://docs/cli").starts_with("# The command line"));
  EXPECT_NE(text("kernelwright://runs/r1/report").find("42"), std::string::npos);
  EXPECT_EQ(text("kernelwright://runs/r1/candidates/c1"), "// code");
  for (const char* uri :
       {"kernelwright://docs/../cli", "kernelwright://docs/none", "file:///etc/passwd", "",
        "kernelwright://", "kernelwright://catalog/none", "kernelwright://jobs/job-7",
        "kernelwright://runs/--help/report", "kernelwright://runs/r1/nothing"})
    EXPECT_EQ(code(ask("resources/read", std::string(R"({"uri":")") + uri + "\"}")),
              kResourceNotFound)
        << uri;
  EXPECT_EQ(ask("resources/templates/list")["result"]["resourceTemplates"].items().size(), 6U);
}

TEST_F(Protocol, ListsHavePages) {
  shake_hands();
  EXPECT_EQ(code(ask("tools/list", R"({"cursor":"x"})")), kInvalidParams);
  EXPECT_EQ(code(ask("tools/list", R"({"cursor":"100000"})")), kInvalidParams);
  EXPECT_EQ(ask("tools/list", R"({"cursor":"2"})")["result"]["tools"].items().size(),
            all_tools().size() - 2);
}

TEST_F(Protocol, PromptsAreFilledInOnce) {
  shake_hands();
  EXPECT_GE(ask("prompts/list")["result"]["prompts"].items().size(), 3U);
  const Json prompt =
      ask("prompts/get",
          R"({"name":"optimize_kernel","arguments":{"kernel":"{reference}","reference":"r.py"}})");
  const std::string text =
      prompt["result"]["messages"].items().front()["content"]["text"].as_string();
  EXPECT_NE(text.find("module {reference} faster"), std::string::npos) << "a given text is no gap";
  EXPECT_NE(text.find("benchmark shape"), std::string::npos) << text;
  EXPECT_EQ(code(ask("prompts/get", R"({"name":"optimize_kernel","arguments":{"kernel":"k"}})")),
            kInvalidParams);
  EXPECT_EQ(code(ask("prompts/get", R"({"name":"nothing"})")), kInvalidParams);
  EXPECT_EQ(
      code(ask("prompts/get", R"({"name":"write_kernel","arguments":{"reference":"r","x":"y"}})")),
      kInvalidParams);
}

TEST(LineReader, CutsPassesOverAndGoesOn) {
  LineReader reader(8);
  EXPECT_TRUE(reader.add("ab").empty());
  const auto lines = reader.add("c\n\n  \n123456789");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text, "abc");
  EXPECT_TRUE(reader.add(std::string(1000, 'x')).empty());
  const auto after = reader.add("\nok\nrest");
  ASSERT_EQ(after.size(), 2U);
  EXPECT_TRUE(after[0].too_long);
  EXPECT_EQ(after[1].text, "ok");
  ASSERT_EQ(reader.finish().size(), 1U);
  EXPECT_TRUE(reader.finish().empty());
}

/// Talks over pipes, as a client does.
TEST(Lines, AreAnsweredOneByOneUntilTheClientCloses) {
  int in[2], out[2];
  ASSERT_EQ(::pipe(in), 0);
  ASSERT_EQ(::pipe(out), 0);
  Server server(fake_settings());
  std::thread serving([&] {
    serve_lines(server, in[0], out[1]);
    ::close(out[1]);
  });
  const std::string text =
      "garbage\n"
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})"
      "\n"
      R"([{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"no/such"}])"
      "\n"
      R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"verify_kernel","arguments":{"module_text":"x","reference_text":"y"}}})"
      "\n";
  ASSERT_EQ(::write(in[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(in[1]);
  std::string said;
  char chunk[4096];
  for (ssize_t n; (n = ::read(out[0], chunk, sizeof(chunk))) > 0;)
    said.append(chunk, static_cast<size_t>(n));
  serving.join();
  EXPECT_NE(said.find("-32700"), std::string::npos);
  EXPECT_NE(said.find(R"("protocolVersion":"2025-03-26")"), std::string::npos);
  EXPECT_NE(said.find(R"([{"jsonrpc":"2.0","id":2,"result":{}},)"), std::string::npos) << said;
  ::close(in[0]);
  ::close(out[0]);
}

}  // namespace
}  // namespace kw::mcp
