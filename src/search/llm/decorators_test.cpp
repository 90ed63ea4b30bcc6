// The decorators over a scripted provider, with a fake clock that only sleeping and the tests
// advance.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <deque>
#include <thread>

#include "llm/budget.h"
#include "llm/cassette.h"
#include "llm/client.h"
#include "llm/deadline.h"
#include "llm/degrade.h"
#include "llm/faults.h"
#include "llm/fenced.h"
#include "llm/ledger.h"
#include "llm/rate_limit.h"
#include "llm/redacting.h"
#include "llm/retry.h"
#include "os/files.h"

namespace kw::llm {
namespace {

Failure failed(FailureKind kind, std::optional<double> after = std::nullopt) {
  Failure failure;
  failure.kind = kind;
  failure.message = "scripted";
  failure.retry_after_seconds = after;
  failure.sent = true;
  return failure;
}

Reply text_reply(const std::string& text, int64_t input = 100, int64_t output = 10) {
  Reply reply;
  reply.text = text;
  reply.usage = {true, input, output, 0, 0, 0};
  return reply;
}

class Scripted : public LlmProvider {
 public:
  explicit Scripted(std::deque<Outcome> outcomes, Capabilities can = {},
                    std::string name = "anthropic")
      : outcomes_(std::move(outcomes)), can_(can), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Capabilities capabilities() const override { return can_; }
  Outcome complete(const Request& request, const Watch& watch) override {
    asked.push_back(request);
    if (before) before(watch);
    if (outcomes_.empty()) return text_reply("more");
    Outcome outcome = outcomes_.front();
    outcomes_.pop_front();
    return outcome;
  }
  std::vector<Request> asked;
  std::function<void(const Watch&)> before;

 private:
  std::deque<Outcome> outcomes_;
  Capabilities can_;
  std::string name_;
};

Request question(const std::string& model = "claude-sonnet-4-6") {
  Request request;
  request.model = model;
  request.messages = {user_message("go")};
  request.max_tokens = 1000;
  return request;
}

Config built_in() { return parse_config("", "p.toml").value(); }

// Any provider may have seen the key of another: in its environment, or from a user's prompt.
TEST(RedactingTest, TakesOutTheKeysOfAllProviders) {
  const std::string one = "sk-one-0123456789", two = "sk-two-abcdefghij";
  Reply reply = text_reply("both: " + one + " " + two);
  reply.calls = {make_tool_call("id", "tool", R"({"x": ")" + two + "\"}")};
  Failure failure = failed(FailureKind::Server);
  failure.message = "no such key: " + one;
  Scripted scripted({reply, failure});
  scripted.before = [&](const Watch& watch) {
    if (!watch.on_text) return;
    for (const char c : "text " + one + " and " + two) watch.on_text(std::string(1, c));
  };
  Redacting redacting(scripted, {Secret(one), Secret(two)});
  std::string streamed;
  const Watch watch{[&](std::string_view text) { streamed += text; }};
  const Outcome outcome = redacting.complete(question(), watch);
  EXPECT_EQ(streamed, "text [key] and [key]");
  EXPECT_EQ(outcome->text, "both: [key] [key]");
  EXPECT_EQ(outcome->calls[0].arguments.find(two), std::string::npos);
  EXPECT_EQ(redacting.complete(question(), Watch{}).failure().message, "no such key: [key]");
}

TEST(Retrying, WaitsLongerEachTime) {
  Scripted inner({failed(FailureKind::Overloaded), failed(FailureKind::Server),
                  failed(FailureKind::Network), text_reply("ok")});
  FakeClock clock;
  std::vector<double> waits;
  Retrying retrying(inner, {}, clock, 7,
                    [&](const Failure&, int, double wait) { waits.push_back(wait); });
  const Outcome outcome = retrying.ask(question());
  ASSERT_TRUE(outcome);
  ASSERT_EQ(waits.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GE(waits[i], 0.75 * (1 << i));
    EXPECT_LE(waits[i], 1.25 * (1 << i));
  }
  EXPECT_NEAR(clock.slept(), waits[0] + waits[1] + waits[2], 1e-9);
}

TEST(Retrying, ObeysRetryAfter) {
  Scripted inner({failed(FailureKind::RateLimited, 42), text_reply("ok")});
  FakeClock clock;
  Retrying retrying(inner, {}, clock, 0);
  ASSERT_TRUE(retrying.ask(question()));
  EXPECT_EQ(clock.slept(), 42);
}

TEST(Retrying, DoesNotWaitForHours) {
  Scripted inner({failed(FailureKind::RateLimited, 7200), text_reply("never")});
  FakeClock clock;
  Retrying retrying(inner, {}, clock, 0);
  const Outcome outcome = retrying.ask(question());
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.failure().message.find("7200 s"), std::string::npos);
  EXPECT_EQ(clock.slept(), 0);
}

struct RetryCase {
  FailureKind kind;
  int attempts;
};
class RetryKinds : public ::testing::TestWithParam<RetryCase> {};

TEST_P(RetryKinds, EndAfterTheirAttempts) {
  std::deque<Outcome> all(20, Outcome(failed(GetParam().kind)));
  Scripted inner(all);
  FakeClock clock;
  Retrying retrying(inner, {}, clock, 0);
  const Outcome outcome = retrying.ask(question());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(static_cast<int>(inner.asked.size()), GetParam().attempts);
  EXPECT_EQ(outcome.failure().attempts, GetParam().attempts);
}
INSTANTIATE_TEST_SUITE_P(
    All, RetryKinds,
    ::testing::Values(RetryCase{FailureKind::Auth, 1}, RetryCase{FailureKind::Quota, 1},
                      RetryCase{FailureKind::BadRequest, 1}, RetryCase{FailureKind::TooLarge, 1},
                      RetryCase{FailureKind::InvalidReply, 1}, RetryCase{FailureKind::Refused, 1},
                      RetryCase{FailureKind::Budget, 1}, RetryCase{FailureKind::Cancelled, 1},
                      RetryCase{FailureKind::Unavailable, 1}, RetryCase{FailureKind::Timeout, 2},
                      RetryCase{FailureKind::CutOff, 3}, RetryCase{FailureKind::RateLimited, 6},
                      RetryCase{FailureKind::Overloaded, 6}, RetryCase{FailureKind::Server, 6},
                      RetryCase{FailureKind::Network, 3}));

TEST(Retrying, CanBeStoppedWhileWaiting) {
  Scripted inner({failed(FailureKind::Overloaded), text_reply("never")});
  FakeClock clock;
  Retrying retrying(inner, {}, clock, 0);
  const Outcome outcome = retrying.complete(question(), {{}, [] { return true; }});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Cancelled);
  EXPECT_EQ(inner.asked.size(), 1u);
}

TEST(RateLimiting, SpreadsRequests) {
  Scripted inner({});
  FakeClock clock;
  RateLimiting limited(inner, {3, 0, 0}, clock);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(limited.ask(question()));
  EXPECT_EQ(clock.slept(), 0);
  clock.advance(20);
  ASSERT_TRUE(limited.ask(question()));
  EXPECT_NEAR(clock.slept(), 40, 0.01);
}

TEST(RateLimiting, CountsTokens) {
  Scripted inner({text_reply("a", 900, 50), text_reply("b", 900, 50)});
  FakeClock clock;
  RateLimiting limited(inner, {0, 1000, 0}, clock);
  ASSERT_TRUE(limited.ask(question()));
  ASSERT_TRUE(limited.ask(question()));
  EXPECT_NEAR(clock.slept(), 60, 0.01);
  Request huge = question();
  huge.messages[0].text = std::string(100'000, 'x');
  ASSERT_TRUE(limited.ask(huge));  // over the limit of a minute: sent alone, not never
}

TEST(RateLimiting, LimitsCallsAtOnce) {
  Scripted inner({});
  std::atomic<int> now{0}, most{0};
  inner.before = [&](const Watch&) {
    most = std::max(most.load(), ++now);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --now;
  };
  RateLimiting limited(inner, {0, 0, 1}, real_clock());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { EXPECT_TRUE(limited.ask(question())); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most.load(), 1);
}

TEST(Deadline, TurnsALateCancelIntoATimeout) {
  Scripted inner({failed(FailureKind::Cancelled)});
  FakeClock clock;
  inner.before = [&](const Watch& watch) {
    EXPECT_FALSE(watch.cancelled());
    clock.advance(31);
    EXPECT_TRUE(watch.cancelled());
  };
  Deadline deadline(inner, 30, clock);
  const Outcome outcome = deadline.ask(question());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Timeout);
  EXPECT_EQ(inner.asked.at(0).timeout_seconds, 30);
}

TEST(Deadline, LeavesTheUsersCancelAlone) {
  Scripted inner({failed(FailureKind::Cancelled)});
  FakeClock clock;
  inner.before = [](const Watch& watch) { EXPECT_TRUE(watch.cancelled()); };
  Deadline deadline(inner, 30, clock);
  const Outcome outcome = deadline.complete(question(), {{}, [] { return true; }});
  EXPECT_EQ(outcome.failure().kind, FailureKind::Cancelled);
}

class Budgets : public ::testing::Test {
 protected:
  /// How many of ten calls are made under the limits.
  int calls_under(const Limits& limits, const Request& request, Outcome each = text_reply("a")) {
    std::deque<Outcome> all(10, each);
    Scripted inner(all);
    inner.before = [this](const Watch&) { clock_.advance(10); };
    Spending spending(limits, clock_);
    Budgeted budgeted(inner, spending, config_);
    for (int i = 0; i < 10; ++i) {
      const Outcome outcome = budgeted.ask(request);
      if (outcome || outcome.failure().kind != FailureKind::Budget) continue;
      why_ = outcome.failure().message;
      return i;
    }
    return 10;
  }
  Config config_ = built_in();
  FakeClock clock_;
  std::string why_;
};

TEST_F(Budgets, CountCalls) {
  EXPECT_EQ(calls_under({{}, {}, 3, {}}, question()), 3);
  EXPECT_NE(why_.find("3 of 3 calls"), std::string::npos);
}

TEST_F(Budgets, AreWrittenBeforeTheCallIsSent) {
  std::vector<LedgerEntry> rows;
  Ledger ledger;
  Scripted inner({text_reply("a"), text_reply("b")});
  inner.before = [&](const Watch&) { EXPECT_EQ(rows.size(), inner.asked.size()); };
  Accounting accounting(inner, ledger, config_);
  Spending spending({}, clock_);
  spending.write_ahead([&](const LedgerEntry& row) -> Status {
    rows.push_back(row);
    return Done{};
  });
  Budgeted budgeted(accounting, spending, config_);
  ASSERT_TRUE(budgeted.ask(question()));
  ASSERT_TRUE(budgeted.ask(question()));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].outcome, kUnsettled);
  EXPECT_GE(rows[0].charge.tokens, 1000);
  EXPECT_GT(*rows[0].charge.at_most, 0);
  // A process that is killed now has settled the first call only.
  rows.push_back(ledger.entries().at(0));
  const std::vector<LedgerEntry> left = settled(rows);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(unsettled(left), 1);
  EXPECT_EQ(left[0].reservation, 2) << "the second call";
  Spending again({{}, {}, 3, {}}, clock_);
  for (const LedgerEntry& row : left) again.restore(row);
  EXPECT_EQ(again.reserve({}), "") << "two of three calls are made";
  EXPECT_NE(again.reserve({}), "");
}

TEST_F(Budgets, NothingIsSentThatCannotBeRecorded) {
  Scripted inner({text_reply("a")});
  Spending spending({}, clock_);
  spending.write_ahead(
      [](const LedgerEntry&) -> Status { return environment_error("No space left on device"); });
  Budgeted budgeted(inner, spending, config_);
  const Outcome outcome = budgeted.ask(question());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Unavailable);
  EXPECT_NE(outcome.failure().message.find("No space left"), std::string::npos);
  EXPECT_TRUE(inner.asked.empty());
}

TEST_F(Budgets, CountTokensAndTimeOfEarlierSessions) {
  LedgerEntry earlier;
  earlier.charge.tokens = 900;
  earlier.latency_seconds = 20;
  Spending tokens({{}, 1000, {}, {}}, clock_), time({{}, {}, {}, 25.0}, clock_);
  tokens.restore(earlier);
  EXPECT_NE(tokens.reserve({{}, 101}), "");
  EXPECT_EQ(tokens.reserve({{}, 100}), "");
  time.restore(earlier);
  EXPECT_EQ(time.seconds_left(), 5);
}

TEST_F(Budgets, CountSeconds) {
  EXPECT_EQ(calls_under({{}, {}, {}, 25.0}, question()), 3);
  EXPECT_NE(why_.find("seconds"), std::string::npos);
}

TEST_F(Budgets, CountTokensByTheirUpperBound) {
  const int64_t most = most_input_tokens(question()) + 1000;
  EXPECT_EQ(calls_under({{}, most - 1, {}, {}}, question()), 0);
  EXPECT_EQ(calls_under({{}, most, {}, {}}, question()), 1);
  EXPECT_EQ(calls_under({{}, most + 110, {}, {}}, question()), 2);
}

TEST_F(Budgets, CountDollarsByTheirUpperBound) {
  const Price price = *config_.price("anthropic", "claude-sonnet-4-6");
  const double most = price.most_usd(most_input_tokens(question()), 1000);
  const double real = price.usd({true, 100, 10, 0, 0, 0});
  EXPECT_EQ(calls_under({0.0, {}, {}, {}}, question()), 0);
  EXPECT_EQ(calls_under({most * 0.999, {}, {}, {}}, question()), 0);
  EXPECT_EQ(calls_under({most * 1.0001, {}, {}, {}}, question()), 1);
  EXPECT_EQ(calls_under({most + 3.001 * real, {}, {}, {}}, question()), 4);
}

TEST_F(Budgets, ALostReplyCountsInFull) {
  const Price price = *config_.price("anthropic", "claude-sonnet-4-6");
  const double most = price.most_usd(most_input_tokens(question()), 1000);
  EXPECT_EQ(calls_under({most * 2.5, {}, {}, {}}, question(), failed(FailureKind::CutOff)), 2);
  Failure rejected = failed(FailureKind::RateLimited);
  rejected.status = 429;
  EXPECT_EQ(calls_under({most * 1.5, {}, {}, {}}, question(), rejected), 10);
}

TEST_F(Budgets, AnUnknownPriceIsRefusedOrAllowed) {
  EXPECT_EQ(calls_under({1.0, {}, {}, {}}, question("claude-nobody-knows")), 0);
  EXPECT_NE(why_.find("price"), std::string::npos);
  EXPECT_EQ(calls_under({1.0, {}, {}, {}, UnknownPrice::Allow}, question("claude-nobody-knows")),
            10);
}

TEST_F(Budgets, HoldsForCallsInFlight) {
  const Price price = *config_.price("anthropic", "claude-sonnet-4-6");
  const double most = price.most_usd(most_input_tokens(question()), 1000);
  Scripted inner({});
  Spending spending({most * 1.5, {}, {}, {}}, clock_);
  Budgeted budgeted(inner, spending, config_);
  std::optional<Outcome> second;
  inner.before = [&](const Watch&) {
    if (!second) {
      second.emplace(failed(FailureKind::Server));  // so that it is asked only once
      second.emplace(budgeted.ask(question()));
    }
  };
  ASSERT_TRUE(budgeted.ask(question()));
  ASSERT_FALSE(*second);
  EXPECT_EQ(second->failure().kind, FailureKind::Budget);
}

TEST_F(Budgets, ShortenTheTimeout) {
  Scripted inner({});
  Spending spending({{}, {}, {}, 12.0}, clock_);
  Budgeted budgeted(inner, spending, config_);
  ASSERT_TRUE(budgeted.ask(question()));
  EXPECT_EQ(inner.asked.at(0).timeout_seconds, 12);
  EXPECT_EQ(spending.text(), "0 of 12 s spent");
}

TEST(Ledgers, NeverTakeUnknownForNothing) {
  const Config config = built_in();
  Ledger ledger;
  EXPECT_EQ(cost_text(ledger.totals()), "$0.0000");
  Reply silent = text_reply("a");
  silent.usage = {};
  Scripted inner({text_reply("a", 1'000'000, 100'000), silent, failed(FailureKind::CutOff)});
  Accounting accounting(inner, ledger, config);
  ASSERT_TRUE(accounting.ask(question()));
  EXPECT_EQ(cost_text(ledger.totals()), "$4.5000");
  ASSERT_TRUE(accounting.ask(question()));
  EXPECT_NE(cost_text(ledger.totals()).find("between $4.5000 and $4.5"), std::string::npos)
      << cost_text(ledger.totals());
  EXPECT_FALSE(accounting.ask(question()));
  EXPECT_EQ(ledger.totals().unknown, 2);
  EXPECT_GT(ledger.totals().usd_at_most, 0);
  EXPECT_EQ(ledger.totals().unpriced, 0);
  ASSERT_TRUE(accounting.ask(question("claude-nobody-knows")));
  EXPECT_EQ(cost_text(ledger.totals()), "at least $4.5000 (no price for 1 call)");
  EXPECT_TRUE(ledger.json()["total"]["usd"].is_null());
  EXPECT_EQ(ledger.json()["calls"].items().size(), 4u);
  EXPECT_EQ(ledger.totals().failed, 1);
}

TEST(Ledgers, CountWhatIsServedAtHomeAsFree) {
  const Config config = built_in();
  Ledger ledger;
  Reply silent = text_reply("a");
  silent.usage = {};
  Scripted inner({silent}, {}, "ollama");
  Accounting accounting(inner, ledger, config);
  ASSERT_TRUE(accounting.ask(question("llama3")));
  EXPECT_EQ(cost_text(ledger.totals()), "$0.0000");
  EXPECT_EQ(ledger.totals().unknown, 0);
}

TEST(Faults, HappenWhenTheyShould) {
  Scripted inner({});
  Faulty faulty(inner, {{2, failed(FailureKind::Overloaded), FaultTime::Before},
                        {3, failed(FailureKind::CutOff), FaultTime::After}});
  EXPECT_TRUE(faulty.ask(question()));
  EXPECT_EQ(faulty.ask(question()).failure().kind, FailureKind::Overloaded);
  EXPECT_EQ(inner.asked.size(), 1u);
  EXPECT_EQ(faulty.ask(question()).failure().kind, FailureKind::CutOff);
  EXPECT_EQ(inner.asked.size(), 2u);
  EXPECT_TRUE(faulty.ask(question()));
}

Tool tool() {
  return {"compile", "Compiles.", Json::parse(R"({"type": "object", "properties": {}})").value()};
}

TEST(Degrading, CallsToolsByText) {
  Scripted inner(
      {text_reply("I will.\n\n```tool\n{\"name\": \"compile\", \"arguments\": {\"a\": 1}}\n```\n"),
       text_reply("done")},
      {false, Caching::None, false, false});
  Degrading degrading(inner);
  Request request = question();
  request.tools = {tool()};
  request.system = {{"Stable.", Cache::Mark}};
  request.reasoning.effort = Effort::High;
  Outcome outcome = degrading.ask(request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->text, "I will.");
  ASSERT_EQ(outcome->calls.size(), 1u);
  EXPECT_EQ(outcome->calls[0].parsed["a"].as_int(), 1);
  EXPECT_EQ(outcome->stop, StopReason::ToolUse);
  ASSERT_EQ(outcome->degraded.size(), 3u);
  EXPECT_EQ(outcome->degraded[0].rfind("tools:", 0), 0u);
  EXPECT_EQ(outcome->degraded[1].rfind("prompt_caching:", 0), 0u);
  EXPECT_EQ(outcome->degraded[2].rfind("reasoning:", 0), 0u);
  EXPECT_TRUE(inner.asked[0].tools.empty());
  EXPECT_FALSE(has_cache_marks(inner.asked[0]));
  EXPECT_NE(inner.asked[0].system.back().text.find("compile: Compiles."), std::string::npos);

  request.messages.push_back(assistant_message(*outcome));
  request.messages.push_back(
      results_message({{outcome->calls[0].id, "compile", "a ``` b", false}}));
  outcome = degrading.ask(request);
  ASSERT_TRUE(outcome);
  const Request& seen = inner.asked.at(1);
  EXPECT_TRUE(seen.messages[1].calls.empty());
  EXPECT_NE(seen.messages[1].text.find("```tool\n{\"name\":\"compile\""), std::string::npos);
  EXPECT_NE(seen.messages[2].text.find("````result\na ``` b\n````"), std::string::npos);
}

TEST(Degrading, ChangesNothingWhereAllIsThere) {
  Scripted inner({text_reply("```tool\n{}\n```")}, {true, Caching::Marks, true, true});
  Degrading degrading(inner);
  Request request = question();
  request.tools = {tool()};
  request.system = {{"Stable.", Cache::Mark}};
  const Outcome outcome = degrading.ask(request);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->degraded.empty());
  EXPECT_TRUE(outcome->calls.empty());
  EXPECT_EQ(inner.asked[0].tools.size(), 1u);
  EXPECT_TRUE(has_cache_marks(inner.asked[0]));
}

struct FencedCase {
  const char* name;
  const char* text;
  const char* want;  // name(arguments) or name!raw, joined by ';', then '|', then the text
};
class Fenced : public ::testing::TestWithParam<FencedCase> {};

TEST_P(Fenced, IsReadFromText) {
  Reply reply;
  reply.text = GetParam().text;
  read_fenced_calls(question(), reply);
  std::string got;
  for (const ToolCall& call : reply.calls)
    got +=
        call.parse_error.empty() ? call.name + "(" + call.parsed.dump() + ");" : call.name + "!;";
  EXPECT_EQ(got + "|" + reply.text, GetParam().want);
}

const FencedCase kFencedCases[] = {
    {"none", "just text", "|just text"},
    {"one", "```tool\n{\"name\": \"a\", \"arguments\": {\"x\": 1}}\n```", "a({\"x\":1});|"},
    {"two", "x\n```tool\n{\"name\": \"a\"}\n```\ny\n```tool_call\n{\"name\": \"b\"}\n```",
     "a({});b({});|x\ny"},
    {"string", "```tool\n{\"name\": \"a\", \"arguments\": \"{\\\"x\\\": 2}\"}\n```",
     "a({\"x\":2});|"},
    {"raw_breaks", "```tool\n{\"name\": \"a\", \"arguments\": {\"s\": \"l1\nl2\"}}\n```",
     "a({\"s\":\"l1\\nl2\"});|"},
    {"unclosed", "```tool\n{\"name\": \"a\", \"arguments\": {", "a!;|"},
    {"broken", "```tool\n{name: a}\n```\nrest", "unnamed!;|rest"},
    {"longer_fence", "````tool\n{\"name\": \"a\"}\n````", "a({});|"},
    {"other_code", "```cuda\n__global__\n```", "|```cuda\n__global__\n```"},
    {"quoted", "````markdown\n```tool\n{\"name\": \"a\"}\n```\n````",
     "|````markdown\n```tool\n{\"name\": \"a\"}\n```\n````"},
    {"indented", "  ```tool\n  {\"name\": \"a\"}\n  ```", "a({});|"},
};
INSTANTIATE_TEST_SUITE_P(All, Fenced, ::testing::ValuesIn(kFencedCases),
                         [](const auto& row) { return std::string(row.param.name); });

class Cassettes : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_tape_XXXXXX";
    folder_ = ::mkdtemp(pattern);
    path_ = folder_ + "/tape.jsonl";
  }
  void TearDown() override { EXPECT_TRUE(os::real_disk().remove(folder_)); }
  void record(std::deque<Outcome> outcomes, const std::vector<std::string>& texts) {
    Scripted inner(std::move(outcomes));
    CassetteWriter writer(os::real_disk(), path_);
    Recording recording(inner, writer);
    for (const std::string& text : texts) (void)recording.ask(with(text));
  }
  static Request with(const std::string& text) {
    Request request = question();
    request.messages[0].text = text;
    return request;
  }
  std::string folder_, path_;
};

TEST_F(Cassettes, PlayWhatWasRecorded) {
  record({text_reply("one"), failed(FailureKind::Overloaded), text_reply("two")}, {"a", "b", "b"});
  auto cassette = Cassette::load(path_);
  ASSERT_TRUE(cassette) << cassette.error().message;
  Replaying replaying("anthropic", {}, *cassette);
  std::string shown;
  const Watch watch{[&](std::string_view text) { shown += text; }, {}};
  // In another order, as with threads; equal requests keep their order.
  EXPECT_EQ(replaying.complete(with("b"), watch).failure().kind, FailureKind::Overloaded);
  EXPECT_EQ(replaying.complete(with("a"), watch)->text, "one");
  EXPECT_EQ(replaying.complete(with("b"), watch)->text, "two");
  EXPECT_EQ(shown, "onetwo");
  EXPECT_EQ(cassette->left(), 0u);
}

TEST_F(Cassettes, NameTheFirstDifference) {
  record({text_reply("one")}, {"hello world"});
  auto cassette = Cassette::load(path_);
  ASSERT_TRUE(cassette);
  const auto why = [&](const std::string& provider, const Request& request) {
    const Outcome outcome = cassette->play(provider, request);
    EXPECT_FALSE(outcome);
    return outcome ? "" : outcome.failure().message;
  };
  EXPECT_NE(why("anthropic", with("hello there")).find("exchange 1: messages[0].text: byte 6"),
            std::string::npos);
  EXPECT_NE(why("openai", with("hello world")).find("with anthropic, now it is openai"),
            std::string::npos);
  Request hotter = with("hello world");
  hotter.temperature = 1;
  EXPECT_NE(why("anthropic", hotter).find("temperature: not recorded"), std::string::npos);
  Request labelled = with("hello world");
  labelled.label = "not sent";
  labelled.timeout_seconds = 1;
  EXPECT_TRUE(cassette->play("anthropic", labelled));
  EXPECT_NE(why("anthropic", with("hello world")).find("the run requested another"),
            std::string::npos);
}

TEST_F(Cassettes, RefuseWhatIsNone) {
  EXPECT_FALSE(Cassette::load(folder_ + "/absent"));
  ASSERT_TRUE(os::write_file(path_, "{}\n"));
  EXPECT_FALSE(Cassette::load(path_));
  ASSERT_TRUE(os::write_file(path_, "{\"kernelwright_cassette\":1}\n{\"outcome\": {}}\n"));
  const auto broken = Cassette::load(path_);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find(":2:"), std::string::npos) << broken.error().message;
}

TEST_F(Cassettes, SurviveAKilledRecorder) {
  record({text_reply("one"), text_reply("two")}, {"a", "b"});
  std::string text = os::read_file(path_).value();
  ASSERT_TRUE(os::write_file(path_, text.substr(0, text.size() - 9)));
  auto cassette = Cassette::load(path_);
  ASSERT_TRUE(cassette) << cassette.error().message;
  EXPECT_EQ(cassette->left(), 1u);
}

TEST_F(Cassettes, CannotBeSilentlyIncomplete) {
  Scripted inner({text_reply("one")});
  CassetteWriter writer(os::real_disk(), folder_ + "/no/such/folder/tape");
  Recording recording(inner, writer);
  const Outcome outcome = recording.ask(with("a"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Unavailable);
}

TEST(Clients, AnswerThroughAProgram) {
  const Config config = built_in();
  const auto http = make_curl_http({"none.so"});
  const auto client = Client::open(config, {}, *http, real_clock());
  ASSERT_TRUE(client);
  Request request = question();
  request.tools = {tool()};
  const std::string program =
      R"(sh -c 'grep -q Compiles && printf "%s\n" "\`\`\`tool" "{\"name\": \"compile\"}" "\`\`\`"')";
  const Outcome outcome = (*client)->complete({"command", program}, request, {});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  ASSERT_EQ(outcome->calls.size(), 1u);
  EXPECT_EQ(outcome->calls[0].name, "compile");
  EXPECT_EQ(cost_text((*client)->ledger().totals()), "unknown (no price for 1 call)");
  const Outcome unknown = (*client)->complete({"nobody", "m"}, request, {});
  EXPECT_EQ(unknown.failure().kind, FailureKind::NotFound);
}

}  // namespace
}  // namespace kw::llm
