// Each vendor's real provider against the strict server: what is accepted, and what comes back.
#include <gtest/gtest.h>

#include "llm/http_provider.h"
#include "server.h"

namespace kw::llm::test {
namespace {

class Vendors : public ::testing::TestWithParam<Vendor> {
 protected:
  void SetUp() override {
    if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
    config_ = server().config(extra_);
  }
  static Server& server() { return Server::instance(); }
  Outcome ask(const Request& request, const Watch& watch = {}) {
    const ProviderRow& row = *config_.provider(GetParam().provider);
    HttpProvider provider(config_, row, Secret(kKey), server().http(), real_clock());
    return provider.complete(request, watch);
  }
  Request model_question(const std::string& text) { return question(text, GetParam().model); }

  std::string extra_;
  Config config_;
};

TEST_P(Vendors, AnswersWithText) {
  server().script(R"([{"text": "forty-two", "usage": {"input": 12, "output": 5}}])");
  std::string shown;
  const Outcome outcome =
      ask(model_question("6 * 7?"), {[&](std::string_view text) { shown += text; }});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "forty-two");
  EXPECT_EQ(shown, "forty-two");
  EXPECT_EQ(outcome->stop, StopReason::End);
  EXPECT_EQ(outcome->provider, GetParam().provider);
  EXPECT_EQ(outcome->model.rfind(GetParam().model, 0), 0u) << outcome->model;
  EXPECT_EQ(outcome->request_id.rfind("req_", 0), 0u);
  EXPECT_TRUE(outcome->usage.known);
  EXPECT_EQ(outcome->usage.input, 12);
  EXPECT_EQ(outcome->usage.output, 5);
  const Json seen = server().requests().at(0)["conversation"];
  EXPECT_EQ(seen["system"].as_string(), "You are terse.");
  EXPECT_EQ(seen["messages"].items().at(0)["text"].as_string(), "6 * 7?");
  EXPECT_EQ(seen["max_tokens"].as_int(), 8192);
}

TEST_P(Vendors, WorksWithoutStreaming) {
  for (ProviderRow& row : config_.providers) row.stream = false;
  server().script(
      R"([{"text": "whole", "calls": [{"name": "compile", "arguments": {"source": "x"}}]}])");
  Request request = model_question("go");
  request.tools.push_back(compile_tool());
  const Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "whole");
  ASSERT_EQ(outcome->calls.size(), 1u);
  EXPECT_EQ(outcome->calls[0].parsed["source"].as_string(), "x");
  EXPECT_TRUE(outcome->usage.known);
}

TEST_P(Vendors, TakesAReplyThatIgnoresStreaming) {
  server().script(R"([{"text": "all at once", "fault": "no_stream"}])");
  const Outcome outcome = ask(model_question("go"));
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "all at once");
}

TEST_P(Vendors, RunsAToolLoop) {
  server().script(R"([
    {"text": "Let me compile.", "calls": [{"name": "compile", "arguments": {"source": "a \"b\"\n"}},
                                          {"name": "compile", "arguments": {"source": "b"}}]},
    {"text": "It compiles.", "expect": {"last": ["12 registers"], "tools": ["compile"]}}])");
  Request request = model_question("Write a kernel.");
  request.tools.push_back(compile_tool());
  Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->stop, StopReason::ToolUse);
  ASSERT_EQ(outcome->calls.size(), 2u);
  EXPECT_EQ(outcome->calls[0].name, "compile");
  EXPECT_EQ(outcome->calls[0].parsed["source"].as_string(), "a \"b\"\n");
  EXPECT_NE(outcome->calls[0].id, outcome->calls[1].id);

  request.messages.push_back(assistant_message(*outcome));
  Message results = results_message({{outcome->calls[0].id, "compile", "12 registers", false},
                                     {outcome->calls[1].id, "compile", "syntax error", true}});
  results.text = "Go on.";
  request.messages.push_back(results);
  outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "It compiles.");
  const Json last = server().requests().at(1)["conversation"]["messages"].items().at(2);
  EXPECT_EQ(last["text"].as_string(), "Go on.");
  EXPECT_FALSE(last["results"].items().at(0)["failed"].as_bool());
  EXPECT_TRUE(last["results"].items().at(1)["failed"].as_bool());
}

TEST_P(Vendors, KeepsCallsApartOverManyRounds) {
  server().script(R"([
    {"calls": [{"name": "compile", "arguments": {"source": "1"}}]},
    {"calls": [{"name": "compile", "arguments": {"source": "2"}}, {"name": "compile", "arguments": {"source": "3"}}]},
    {"calls": [{"name": "compile", "arguments": {"source": "4"}}]},
    {"text": "done"}])");
  Request request = model_question("go");
  request.tools.push_back(compile_tool());
  Outcome outcome = ask(request);
  int rounds = 0;
  for (; outcome && outcome->stop == StopReason::ToolUse; ++rounds) {
    request.messages.push_back(assistant_message(*outcome));
    std::vector<ToolResult> results;
    for (const ToolCall& call : outcome->calls)
      results.push_back(
          {call.id, call.name, "result of " + call.parsed["source"].as_string(), false});
    request.messages.push_back(results_message(results));
    outcome = ask(request);
  }
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(rounds, 3);
  const Json messages = server().requests().at(3)["conversation"]["messages"];
  EXPECT_EQ(messages.items().at(4)["results"].items().at(1)["content"].as_string(), "result of 3");
}

TEST_P(Vendors, HandsThinkingBackAsItCame) {
  server().script(R"([
    {"thinking": "hm", "text": "So:", "calls": [{"name": "compile", "arguments": {"source": "a"}}],
     "usage": {"input": 3, "output": 40, "reasoning": 30}},
    {"text": "done"}])");
  Request request = question("Think.", GetParam().thinker);
  request.tools.push_back(compile_tool());
  request.reasoning.effort = Effort::High;
  Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "So:");
  EXPECT_EQ(outcome->usage.output, 40);
  if (std::string(GetParam().provider) != "anthropic") {  // which does not count thinking apart
    EXPECT_EQ(outcome->usage.reasoning, 30);
  }
  EXPECT_FALSE(server().requests().at(0)["conversation"]["reasoning"].is_null());

  request.messages.push_back(assistant_message(*outcome));
  request.messages.push_back(results_message({{outcome->calls.at(0).id, "compile", "ok", false}}));
  outcome = ask(request);  // the server rejects a conversation whose signatures are missing
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "done");
}

TEST_P(Vendors, TakesOverFromAnyOtherVendor) {
  for (const Vendor& before : kVendors) {
    server().script(R"([
      {"thinking": "hm", "text": "So:", "calls": [{"name": "compile", "arguments": {"source": "a"}}]},
      {"text": "done"}])");
    Request request = question("Think.", before.thinker);
    request.tools.push_back(compile_tool());
    request.reasoning.effort = Effort::High;
    HttpProvider first(config_, *config_.provider(before.provider), Secret(kKey), server().http(),
                       real_clock());
    Outcome outcome = first.ask(request);
    ASSERT_TRUE(outcome) << before.provider << ": " << outcome.failure().message;
    request.messages.push_back(assistant_message(*outcome));
    request.messages.push_back(
        results_message({{outcome->calls.at(0).id, "compile", "ok", false}}));
    request.model = GetParam().thinker;
    outcome = ask(request);
    ASSERT_TRUE(outcome) << before.provider << ": " << outcome.failure().message;
    EXPECT_EQ(outcome->text, "done");
  }
}

TEST_P(Vendors, MalformedArgumentsAreData) {
  server().script(
      R"([{"calls": [{"name": "compile", "arguments": "{\"source\": \"unfinis"}]}, {"text": "sorry"}])");
  Request request = model_question("Write a kernel.");
  request.tools.push_back(compile_tool());
  Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  ASSERT_EQ(outcome->calls.size(), 1u);
  EXPECT_FALSE(outcome->calls[0].parse_error.empty());
  EXPECT_NE(outcome->calls[0].arguments.find("unfinis"), std::string::npos);

  request.messages.push_back(assistant_message(*outcome));
  request.messages.push_back(
      results_message({{outcome->calls[0].id, "compile", "the arguments are not a JSON", true}}));
  outcome = ask(request);  // and the conversation goes on
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "sorry");
}

TEST_P(Vendors, HallucinatedToolNamesSurviveTheRoundTrip) {
  server().script(R"([{"calls": [{"name": "run.on gpu!", "arguments": {}}]}, {"text": "ok"}])");
  Request request = model_question("go");
  request.tools.push_back(compile_tool());
  Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->calls.at(0).name, "run_on_gpu_");
  request.messages.push_back(assistant_message(*outcome));
  request.messages.push_back(results_message(
      {{outcome->calls[0].id, outcome->calls[0].name, "there is no such tool", true}}));
  outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
}

TEST_P(Vendors, SaysWhyItStopped) {
  server().script(
      R"([{"text": "cut he", "stop": "length"}, {"text": "I will not.", "stop": "refusal"}])");
  Outcome outcome = ask(model_question("long"));
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->stop, StopReason::Length);
  EXPECT_EQ(outcome->text, "cut he");
  outcome = ask(model_question("bad"));
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->stop, StopReason::Refusal);
  EXPECT_EQ(outcome->text, "I will not.");
}

TEST_P(Vendors, AnEmptyReplyIsNoReply) {
  server().script(R"([{"text": "", "usage": {"input": 9, "output": 1}}])");
  const Outcome outcome = ask(model_question("go"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::InvalidReply);
  EXPECT_EQ(outcome.failure().usage.input, 9);  // it is paid for all the same
}

TEST_P(Vendors, BlankTextBesideACallIsNotSentBack) {
  server().script(
      R"([{"text": " \n", "calls": [{"name": "compile", "arguments": {"source": ""}}]}, {"text": "ok"}])");
  Request request = model_question("go");
  request.tools.push_back(compile_tool());
  Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  request.messages.push_back(assistant_message(*outcome));
  request.messages.push_back(results_message({{outcome->calls.at(0).id, "compile", "", false}}));
  outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
}

TEST_P(Vendors, ReportsCachedTokens) {
  server().script(R"([{"text": "a"}, {"text": "b"}])");
  Request request = model_question("first");
  request.system = {{std::string(8000, 'x'), Cache::Mark}};
  Outcome outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->usage.cache_read, 0);
  request.messages[0].text = "second";
  outcome = ask(request);
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_GE(outcome->usage.cache_read, 1024);
  EXPECT_LT(outcome->usage.input, 200 + 128);
}

TEST_P(Vendors, NamesWhatAModelDoesNotTake) {
  server().script(R"([{"text": "a"}])");
  const bool anthropic = std::string(GetParam().provider) == "anthropic";
  Request request = question("go", anthropic ? "claude-opus-4-7" : GetParam().thinker);
  request.temperature = 0.2;
  request.stop = {"END"};
  request.reasoning.budget_tokens = 4096;
  const Outcome outcome = ask(request);  // the server would reject what may not be sent
  ASSERT_TRUE(outcome) << outcome.failure().message;
  const bool gemini = std::string(GetParam().provider) == "gemini";
  EXPECT_EQ(outcome->degraded.empty(), gemini);
}

TEST_P(Vendors, RejectsMalformedRequestsBeforeTheyAreSent) {
  server().script("[]");
  Request request = model_question("go");
  request.messages.push_back(user_message("again"));
  const Outcome outcome = ask(request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::BadRequest);
  EXPECT_FALSE(outcome.failure().sent);
  EXPECT_TRUE(server().requests().empty());
}

TEST_P(Vendors, UnknownModelIsNotFound) {
  server().script("[]");
  const Outcome outcome = ask(question("go", "unknown-model"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::NotFound) << outcome.failure().message;
  EXPECT_NE(outcome.failure().message.find("unknown-model"), std::string::npos);
}

TEST_P(Vendors, TheServerIsStrict) {
  // A field no vendor has: proof that the server would notice if ours wrote one.
  server().script("[]");
  HttpRequest http;
  const std::string provider = GetParam().provider;
  const std::string path = provider == "anthropic" ? "/v1/messages"
                           : provider == "openai"  ? "/v1/chat/completions"
                           : provider == "openai-responses"
                               ? "/v1/responses"
                               : "/v1beta/models/gemini-2.5-pro:generateContent";
  http.url = server().url() + path;
  http.headers = {{"content-type", "application/json"},
                  {"anthropic-version", "2023-06-01"},
                  {"x-api-key", kKey},
                  {"authorization", std::string("Bearer ") + kKey},
                  {"x-goog-api-key", kKey}};
  http.body = R"({"surprise": 1})";
  const HttpOutcome outcome = server().http().send(http, {});
  EXPECT_EQ(outcome.reply.status, 400);
  EXPECT_NE(outcome.reply.body.find("surprise"), std::string::npos) << outcome.reply.body;
}

INSTANTIATE_TEST_SUITE_P(All, Vendors, ::testing::ValuesIn(kVendors), [](const auto& row) {
  std::string name = row.param.provider;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace kw::llm::test
