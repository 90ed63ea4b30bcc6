// The whole client through real HTTP: retries, budget, ledger, cassettes, and a planted key that
// must turn up nowhere.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <thread>

#include "llm/client.h"
#include "llm/message_json.h"
#include "os/files.h"
#include "server.h"

namespace kw::llm::test {
namespace {

class Clients : public ::testing::TestWithParam<Vendor> {
 protected:
  void SetUp() override {
    if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
    char pattern[] = "/tmp/kw_llm_XXXXXX";
    folder_ = ::mkdtemp(pattern);
    config_ = server().config();
  }
  void TearDown() override {
    const bool removed = folder_.empty() || os::real_disk().remove(folder_).has_value();
    EXPECT_TRUE(removed) << folder_;
  }
  static Server& server() { return Server::instance(); }
  std::unique_ptr<Client> client(ClientOptions options) {
    auto made = Client::open(config_, std::move(options), server().http(), clock_);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made).value();
  }
  ModelId id() const { return {GetParam().provider, GetParam().model}; }

  FakeClock clock_;
  std::string folder_;
  Config config_;
};

TEST_P(Clients, RetriesWhatPasses) {
  server().script(R"([{"status": 429, "message": "slow down", "headers": {"retry-after": "11"}},
                      {"status": 529, "message": "busy"}, {"fault": "close"}, {"text": "at last"}])");
  std::vector<std::string> waits;
  ClientOptions options;
  options.on_retry = [&](const Failure& failure, int, double) {
    waits.push_back(failure_name(failure.kind));
  };
  const auto it = client(std::move(options));
  const Outcome outcome = it->complete(id(), question("go"), {});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "at last");
  EXPECT_EQ(waits, (std::vector<std::string>{"rate limited", "overloaded", "reply cut off"}));
  EXPECT_GE(clock_.slept(), 11);
  EXPECT_EQ(it->ledger().totals().calls, 4);
  EXPECT_EQ(it->ledger().totals().failed, 3);
}

TEST_P(Clients, DoesNotRetryWhatStays) {
  server().script(R"([{"status": 401, "message": "no"}, {"text": "never asked"}])");
  const auto it = client({});
  const Outcome outcome = it->complete(id(), question("go"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Auth);
  EXPECT_EQ(server().steps_left(), 1u);
}

TEST_P(Clients, StopsBeforeTheBudgetIsExceeded) {
  server().script(R"([{"text": "one"}, {"text": "two"}, {"text": "three"}])");
  ClientOptions options;
  Request request = question("go");
  request.max_tokens = 1000;
  const Price price = *config_.price(GetParam().provider, GetParam().model);
  options.limits.usd = price.most_usd(most_input_tokens(request), request.max_tokens) * 1.2;
  const auto it = client(std::move(options));
  int replies = 0;
  Outcome outcome = it->complete(id(), request, {});
  for (; outcome; ++replies) outcome = it->complete(id(), request, {});
  EXPECT_GE(replies, 1);
  if (replies < 3) {
    EXPECT_EQ(outcome.failure().kind, FailureKind::Budget) << outcome.failure().message;
  }
  EXPECT_LE(it->ledger().totals().usd, it->spending().limits().usd.value());
}

TEST_P(Clients, NoMoneyNoCall) {
  server().script(R"([{"text": "never asked"}])");
  ClientOptions options;
  options.limits.usd = 0;
  const auto it = client(std::move(options));
  const Outcome outcome = it->complete(id(), question("go"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Budget);
  EXPECT_NE(outcome.failure().message.find("$0.0000 of $0.0000"), std::string::npos)
      << outcome.failure().message;
  EXPECT_EQ(server().steps_left(), 1u);
}

TEST_P(Clients, ReplaysByteForByte) {
  server().script(R"([{"status": 529, "message": "busy"},
                      {"text": "Let me see.", "thinking": "hm", "calls": [{"name": "compile", "arguments": {"source": "é\n"}}]},
                      {"text": "done"}])");
  const std::string tape = folder_ + "/tape.jsonl";
  const auto run = [&](Client& it) {
    Request request = question("go");
    request.tools.push_back(compile_tool());
    std::string all;
    Outcome outcome = it.complete(id(), request, {});
    EXPECT_TRUE(outcome) << outcome.failure().message;
    if (!outcome) return all;
    all += to_json(outcome).dump();
    request.messages.push_back(assistant_message(*outcome));
    request.messages.push_back(
        results_message({{outcome->calls.at(0).id, "compile", "ok", false}}));
    outcome = it.complete(id(), request, {});
    EXPECT_TRUE(outcome) << outcome.failure().message;
    return all + to_json(outcome).dump() + it.ledger().json().dump();
  };
  ClientOptions recorded;
  recorded.record_path = tape;
  const std::string first = run(*client(recorded));
  const size_t asked = server().requests().size();

  ::unsetenv("KW_TEST_KEY");  // a replay needs no key
  ClientOptions replayed;
  replayed.replay_path = tape;
  const auto it = client(replayed);
  const double slept = clock_.slept();
  EXPECT_EQ(run(*it), first);
  EXPECT_EQ(clock_.slept(), slept);  // what was waited for is not waited for again
  EXPECT_EQ(it->left_to_replay(), 0u);
  EXPECT_EQ(server().requests().size(), asked);

  Outcome more = it->complete(id(), question("one more"), {});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.failure().kind, FailureKind::Unavailable);
  EXPECT_NE(more.failure().message.find("the run requested another"), std::string::npos) << more.failure().message;

  const auto other = client(replayed);
  more = other->complete(id(), question("go?"), {});
  ASSERT_FALSE(more);
  EXPECT_NE(more.failure().message.find("messages[0].text: byte 2: recorded 'go', now 'go?'"),
            std::string::npos)
      << more.failure().message;
  ::setenv("KW_TEST_KEY", kKey, 1);
}

TEST_P(Clients, ManyThreadsShareOne) {
  constexpr int kThreads = 6, kCalls = 4;
  std::string steps;
  for (int i = 0; i < kThreads * kCalls; ++i)
    steps +=
        (i > 0 ? "," : "") + std::string(R"({"text": "a", "usage": {"input": 10, "output": 1}})");
  server().script("[" + steps + "]");
  const auto run = [&](Client& it) {
    std::atomic<int> answers{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kCalls; ++i)
          answers += it.complete(id(), question("from " + std::to_string(t)), {}) ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return answers.load();
  };
  ClientOptions options;
  options.record_path = folder_ + "/tape.jsonl";
  options.limits.calls = kThreads * kCalls;
  const auto it = client(options);
  EXPECT_EQ(run(*it), kThreads * kCalls);
  EXPECT_EQ(it->ledger().totals().calls, kThreads * kCalls);
  EXPECT_EQ(it->ledger().totals().usage.input, 10 * kThreads * kCalls);
  EXPECT_FALSE(it->complete(id(), question("one more"), {}));
  ClientOptions replayed;
  replayed.replay_path = options.record_path;
  const auto again = client(replayed);
  EXPECT_EQ(run(*again), kThreads * kCalls);
  EXPECT_EQ(again->left_to_replay(), 0u);
}

TEST_P(Clients, ThePlantedKeyIsNowhere) {
  server().script(R"([{"text": "hello"}, {"status": 401, "message": "bad key sk-planted-5f1d0c"},
                      {"text": "the key is sk-planted-5f1d0c", "calls": [{"name": "compile", "arguments": {"source": "sk-planted-5f1d0c"}}]}])");
  ClientOptions options;
  options.record_path = folder_ + "/tape.jsonl";
  const auto it = client(std::move(options));
  std::string all;
  const Watch watch{[&](std::string_view text) { all += text; }, {}};
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = it->complete(id(), question("go"), watch);
    all += to_json(outcome).dump();
    if (!outcome) all += outcome.failure().error().message;
  }
  all += it->ledger().json().dump() + it->spending().text();
  for (const ProviderState& state : provider_states(config_)) all += state.note;
  for (const std::string& name : os::list_directory(folder_))
    all += os::read_file(folder_ + "/" + name).value();
  EXPECT_NE(all.find("[key]"), std::string::npos);  // it was there to be found
  EXPECT_EQ(all.find(kKey), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Clients, ::testing::ValuesIn(kVendors), [](const auto& row) {
  std::string name = row.param.provider;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Client, ReachesEveryCompatibleServer) {
  if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  Server& server = Server::instance();
  for (const char* name : {"openrouter", "groq", "together", "ollama", "vllm", "llamacpp"}) {
    server.script(R"([{"calls": [{"name": "compile", "arguments": {"source": "x"}}]}])");
    const Config config = server.config(fmt::format(
        "[provider.{}]\nbase_url = \"{}/v1\"\nkey_env = \"KW_TEST_KEY\"\n", name, server.url()));
    const auto client = Client::open(config, {}, server.http(), real_clock());
    Request request = question("go");
    request.tools.push_back(compile_tool());
    const Outcome outcome = (*client)->complete({name, "vendor/some-model:8b"}, request, {});
    ASSERT_TRUE(outcome) << name << ": " << outcome.failure().message;
    EXPECT_EQ(outcome->calls.size(), 1u);
    EXPECT_EQ(outcome->provider, name);
    EXPECT_EQ(server.requests().at(0)["body"]["model"].as_string(), "vendor/some-model:8b");
  }
}

TEST(Client, CallsToolsByTextWhereThereAreNone) {
  if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  Server& server = Server::instance();
  server.script(R"([
    {"text": "Compiling.\n```tool\n{\"name\": \"compile\", \"arguments\": {\"source\": \"x\"}}\n```",
     "expect": {"system": ["compile: Compiles a module."], "tools": []}},
    {"text": "Done.", "expect": {"last": ["Result of compile", "12 registers"], "any": ["```tool"]}}])");
  const Config config = server.config(
      "[provider.lab]\nwire = \"openai-chat\"\ntools = false\nkey_env = \"KW_TEST_KEY\"\nbase_url "
      "= \"" +
      server.url() + "/v1\"\n");
  const auto client = Client::open(config, {}, server.http(), real_clock());
  Request request = question("go");
  request.tools.push_back(compile_tool());
  Outcome outcome = (*client)->complete({"lab", "m"}, request, {});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  ASSERT_EQ(outcome->calls.size(), 1u);
  EXPECT_EQ(outcome->text, "Compiling.");
  EXPECT_EQ(outcome->degraded.at(0).rfind("tools:", 0), 0u);
  request.messages.push_back(assistant_message(*outcome));
  request.messages.push_back(
      results_message({{outcome->calls[0].id, "compile", "12 registers", false}}));
  outcome = (*client)->complete({"lab", "m"}, request, {});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "Done.");
}

TEST(Client, NoKeyIsAClearFailure) {
  const auto config = parse_config("[provider.anthropic]\nkey_env = \"KW_NO_SUCH_KEY\"\n", "test");
  ASSERT_TRUE(config);
  const auto http = make_curl_http();
  const auto client = Client::open(*config, {}, *http, real_clock());
  ASSERT_TRUE(client);
  const Outcome outcome =
      (*client)->complete({"anthropic", "claude-sonnet-4-6"}, question("go"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Auth);
  EXPECT_NE(outcome.failure().message.find("KW_NO_SUCH_KEY"), std::string::npos);
}

TEST(Client, AnUnknownPriceIsSaid) {
  if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  Server& server = Server::instance();
  server.script(R"([{"text": "a"}])");
  const Config config = server.config();
  ClientOptions options;
  options.limits.usd = 5;
  auto client = Client::open(config, options, server.http(), real_clock());
  const ModelId id{"openai", "gpt-4-something-new"};
  Outcome outcome = (*client)->complete(id, question("go"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Budget);
  EXPECT_NE(outcome.failure().message.find("price"), std::string::npos);

  options.limits.unknown_price = UnknownPrice::Allow;
  client = Client::open(config, options, server.http(), real_clock());
  outcome = (*client)->complete(id, question("go"), {});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(cost_text((*client)->ledger().totals()), "unknown (no price for 1 call)");
  EXPECT_TRUE((*client)->ledger().json()["total"]["usd"].is_null());
}

}  // namespace
}  // namespace kw::llm::test
