// Everything that can go wrong on the way, for each wire format: the kind, the message, the blame.
#include <gtest/gtest.h>
#include <signal.h>

#include "llm/http_provider.h"
#include "server.h"

namespace kw::llm::test {
namespace {

struct Case {
  const char* name;
  const char* step;
  FailureKind kind;
  const char* says;  // part of the message
};

const Case kCases[] = {
    {"bad_request", R"({"status": 400, "message": "messages: too odd"})", FailureKind::BadRequest,
     "too odd"},
    {"bad_html", R"({"fault": "html", "status": 400})", FailureKind::BadRequest,
     "HTTP 400 with HTML ('Sign in"},
    {"bad_empty", R"({"fault": "raw", "status": 400})", FailureKind::BadRequest,
     "HTTP 400 with nothing"},
    {"bad_half", R"({"fault": "raw", "status": 400, "body": "{\"error\": {\"mess"})",
     FailureKind::BadRequest, "HTTP 400 with text ('{"},
    {"bad_list", R"({"fault": "raw", "status": 400, "body": "[]"})", FailureKind::BadRequest,
     "HTTP 400: []"},
    {"bad_words", R"({"fault": "raw", "status": 400, "body": "{\"error\": [1, {}]}"})",
     FailureKind::BadRequest, "HTTP 400"},
    {"bad_number", R"({"fault": "raw", "status": 400, "body": "7"})", FailureKind::BadRequest,
     "HTTP 400 with text ('7')"},
    {"no_method", R"({"fault": "raw", "status": 405, "body": "no"})", FailureKind::BadRequest,
     "HTTP 405"},
    {"conflict", R"({"status": 409, "message": "again"})", FailureKind::BadRequest, "again"},
    {"gone", R"({"status": 410, "message": "retired"})", FailureKind::BadRequest, "retired"},
    {"unprocessable", R"({"status": 422, "message": "temperature"})", FailureKind::BadRequest,
     "temperature"},
    {"no_credit", R"({"status": 400, "message": "Your credit balance is too low"})",
     FailureKind::Quota, "credit"},
    {"too_long", R"({"status": 400, "message": "prompt is too long: 210000 tokens > 200000"})",
     FailureKind::TooLarge, "too long"},
    {"unauthorized", R"({"status": 401, "message": "who are you"})", FailureKind::Auth,
     "who are you"},
    {"unauthorized_empty", R"({"fault": "raw", "status": 401})", FailureKind::Auth, "HTTP 401"},
    {"forbidden", R"({"status": 403, "message": "not allowed"})", FailureKind::Auth, "not allowed"},
    {"forbidden_html", R"({"fault": "html", "status": 403})", FailureKind::Auth, "HTML ('Sign in"},
    {"not_found", R"({"status": 404, "message": "no such model"})", FailureKind::NotFound,
     "no such model"},
    {"not_found_empty", R"({"fault": "raw", "status": 404})", FailureKind::NotFound, "HTTP 404"},
    {"too_large", R"({"status": 413, "message": "request exceeds 32 MB"})", FailureKind::TooLarge,
     "32 MB"},
    {"too_large_html", R"({"fault": "html", "status": 413})", FailureKind::TooLarge, "HTTP 413"},
    {"limited", R"({"status": 429, "message": "slow down", "headers": {"retry-after": "7"}})",
     FailureKind::RateLimited, "slow down"},
    {"limited_empty", R"({"fault": "raw", "status": 429})", FailureKind::RateLimited, "HTTP 429"},
    {"no_quota",
     R"({"status": 429, "message": "You exceeded your current quota", "kind": "insufficient_quota"})",
     FailureKind::Quota, "quota"},
    {"server", R"({"status": 500, "message": "oops"})", FailureKind::Server, "oops"},
    {"server_empty", R"({"fault": "raw", "status": 500})", FailureKind::Server, "HTTP 500"},
    {"gateway", R"({"status": 502, "message": "bad gateway"})", FailureKind::Server, "502"},
    {"unavailable", R"({"fault": "html", "status": 503})", FailureKind::Overloaded, "503"},
    {"overloaded", R"({"status": 529, "message": "Overloaded"})", FailureKind::Overloaded,
     "Overloaded"},
    {"closed", R"({"fault": "close"})", FailureKind::CutOff, "127.0.0.1"},
    {"cut", R"({"fault": "cut", "text": "a long text that is never heard to its end"})",
     FailureKind::CutOff, "127.0.0.1"},
    {"cut_early", R"({"fault": "cut", "text": "nothing of it", "bytes": 3})", FailureKind::CutOff,
     "127.0.0.1"},
    {"html", R"({"fault": "html"})", FailureKind::InvalidReply, "HTML ('Sign in to the network')"},
    {"html_502", R"({"fault": "html", "status": 502})", FailureKind::Server, "HTML ('Sign in"},
    {"invalid_json", R"({"fault": "invalid_json"})", FailureKind::InvalidReply, "instead of JSON"},
    {"no_body", R"({"fault": "raw"})", FailureKind::InvalidReply, "nothing instead of JSON"},
    {"a_list", R"({"fault": "raw", "body": "[1]"})", FailureKind::InvalidReply, "instead of JSON"},
    {"no_content", R"({"fault": "raw", "status": 204})", FailureKind::InvalidReply, "HTTP 204"},
    {"empty", R"({"fault": "empty"})", FailureKind::InvalidReply, "the reply"},
    {"big", R"({"fault": "big"})", FailureKind::InvalidReply, "larger than 10 MB"},
    {"redirect", R"({"fault": "redirect"})", FailureKind::InvalidReply, "example.invalid"},
    {"error_event", R"({"fault": "error_event", "text": "I begin"})", FailureKind::Overloaded,
     "Overloaded"},
};

using Row = std::tuple<Vendor, Case>;

class Faults : public ::testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  }
};

TEST_P(Faults, AreTyped) {
  const auto& [vendor, fault] = GetParam();
  Server& server = Server::instance();
  server.script(std::string("[") + fault.step + "]");
  const Config config = server.config();
  HttpProvider provider(config, *config.provider(vendor.provider), Secret(kKey), server.http(),
                        real_clock());
  const Outcome outcome = provider.complete(question("go", vendor.model), {});
  ASSERT_FALSE(outcome);
  const Failure& failure = outcome.failure();
  EXPECT_EQ(failure.kind, fault.kind) << failure_name(failure.kind) << ": " << failure.message;
  EXPECT_NE(failure.message.find(fault.says), std::string::npos) << failure.message;
  EXPECT_EQ(failure.message.find(kKey), std::string::npos);
  EXPECT_TRUE(failure.sent);
  EXPECT_NE(failure.blame(), Blame::Bug) << "what a provider says is no bug of ours";
  if (std::string(fault.name) == "limited") {
    EXPECT_EQ(failure.retry_after_seconds, 7.0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Faults,
                         ::testing::Combine(::testing::ValuesIn(kVendors),
                                            ::testing::ValuesIn(kCases)),
                         [](const auto& row) {
                           std::string name = std::get<0>(row.param).provider;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_" + std::get<1>(row.param).name;
                         });

class OneVendor : public ::testing::TestWithParam<Vendor> {
 protected:
  void SetUp() override {
    if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  }
  static Server& server() { return Server::instance(); }
};

TEST_P(OneVendor, AWrongKeyIsNeverRepeated) {
  server().script("[]");
  const Config config = server().config();
  const std::string wrong = "sk-wrong-but-secret";
  HttpProvider provider(config, *config.provider(GetParam().provider), Secret(wrong),
                        server().http(), real_clock());
  const Outcome outcome = provider.complete(question("go", GetParam().model), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Auth) << outcome.failure().message;
  EXPECT_EQ(outcome.failure().message.find(wrong), std::string::npos) << outcome.failure().message;
  EXPECT_EQ(outcome.failure().blame(), Blame::Input);
}

TEST_P(OneVendor, ASlowReplyArrives) {
  server().script(
      R"([{"fault": "drip", "text": "slowly but surely, piece by piece", "size": 40, "pause": 0.002}])");
  const Config config = server().config();
  HttpProvider provider(config, *config.provider(GetParam().provider), Secret(kKey),
                        server().http(), real_clock());
  const Outcome outcome = provider.complete(question("go", GetParam().model), {});
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "slowly but surely, piece by piece");
}

TEST_P(OneVendor, ATooSlowReplyTimesOut) {
  server().script(R"([{"fault": "hang", "seconds": 5}])");
  const Config config = server().config();
  HttpProvider provider(config, *config.provider(GetParam().provider), Secret(kKey),
                        server().http(), real_clock());
  Request request = question("go", GetParam().model);
  request.timeout_seconds = 0.3;
  const Outcome outcome = provider.complete(request, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Timeout) << outcome.failure().message;
}

TEST_P(OneVendor, ADripWithoutEndTimesOut) {
  server().script(
      R"([{"fault": "drip", "text": "drop after drop after drop", "size": 1, "pause": 0.02}])");
  const Config config = server().config();
  HttpProvider provider(config, *config.provider(GetParam().provider), Secret(kKey),
                        server().http(), real_clock());
  Request request = question("go", GetParam().model);
  request.timeout_seconds = 0.4;
  const Outcome outcome = provider.complete(request, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Timeout) << outcome.failure().message;
  EXPECT_TRUE(outcome.failure().sent);  // so it may be charged for
}

TEST_P(OneVendor, FaultsWithoutStreaming) {
  const std::pair<const char*, FailureKind> cases[] = {
      {R"([{"fault": "cut", "text": "a text"}])", FailureKind::CutOff},
      {R"([{"fault": "empty"}])", FailureKind::InvalidReply},
      {R"([{"fault": "big"}])", FailureKind::InvalidReply},
      {R"([{"status": 529, "message": "busy"}])", FailureKind::Overloaded},
  };
  Config config = server().config();
  for (ProviderRow& row : config.providers) row.stream = false;
  HttpProvider provider(config, *config.provider(GetParam().provider), Secret(kKey),
                        server().http(), real_clock());
  for (const auto& [script, kind] : cases) {
    server().script(script);
    const Outcome outcome = provider.complete(question("go", GetParam().model), {});
    ASSERT_FALSE(outcome) << script;
    EXPECT_EQ(outcome.failure().kind, kind) << script << outcome.failure().message;
  }
}

TEST_P(OneVendor, CanBeStopped) {
  server().script(
      R"([{"fault": "drip", "text": "a text that goes on and on and on and on", "pause": 0.05}])");
  const Config config = server().config();
  HttpProvider provider(config, *config.provider(GetParam().provider), Secret(kKey),
                        server().http(), real_clock());
  int asked = 0;
  const Outcome outcome =
      provider.complete(question("go", GetParam().model), {{}, [&] { return ++asked > 3; }});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Cancelled);
}

INSTANTIATE_TEST_SUITE_P(All, OneVendor, ::testing::ValuesIn(kVendors), [](const auto& row) {
  std::string name = row.param.provider;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Refusals, ABlockedPromptIsRefused) {
  if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  Server& server = Server::instance();
  server.script(R"([{"fault": "blocked"}])");
  const Config config = server.config();
  HttpProvider provider(config, *config.provider("gemini"), Secret(kKey), server.http(),
                        real_clock());
  const Outcome outcome = provider.complete(question("go", "gemini-2.5-pro"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Refused);
  EXPECT_NE(outcome.failure().message.find("PROHIBITED_CONTENT"), std::string::npos);
  EXPECT_EQ(outcome.failure().usage.input, 7);
}

TEST(Network, ABrokenPipeIsNoEnd) {
  if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  Server& server = Server::instance();
  server.script(R"([{"text": "hello"}])");
  const Config config = server.config();
  HttpProvider provider(config, *config.provider("anthropic"), Secret(kKey), server.http(),
                        real_clock());
  const Watch watch{[](std::string_view) { ::raise(SIGPIPE); }, {}};
  EXPECT_TRUE(provider.complete(question("go", "claude-sonnet-4-6"), watch));
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST(Network, NobodyIsThere) {
  if (const auto version = curl_version(); !version) GTEST_SKIP() << "libcurl cannot be loaded";
  const auto config = parse_config(
      "[provider.nobody]\nwire = \"openai-chat\"\nkey = \"none\"\n"
      "base_url = \"http://127.0.0.1:9/v1\"\n",
      "test");
  ASSERT_TRUE(config) << config.error().message;
  HttpProvider provider(*config, *config->provider("nobody"), Secret(), Server::instance().http(),
                        real_clock());
  const Outcome outcome = provider.complete(question("go", "m"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Network);
  EXPECT_FALSE(outcome.failure().sent);
}

TEST(Network, AKeyIsNotSentInTheClear) {
  const auto config = parse_config(
      "[provider.lan]\nwire = \"openai-chat\"\nkey_env = \"K\"\n"
      "base_url = \"http://10.1.2.3/v1\"\n",
      "test");
  ASSERT_TRUE(config) << config.error().message;
  HttpProvider provider(*config, *config->provider("lan"), Secret("k"), Server::instance().http(),
                        real_clock());
  const Outcome outcome = provider.complete(question("go", "m"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.failure().kind, FailureKind::Auth);
  EXPECT_FALSE(outcome.failure().sent);
}

TEST(Network, AMissingLibraryIsNamed) {
  const auto http = make_curl_http({"libcurl-that-is-not-there.so.4"});
  HttpRequest request;
  request.url = "https://example.com/v1";
  const HttpOutcome outcome = http->send(request, {});
  EXPECT_EQ(outcome.problem, HttpProblem::NoLibrary);
  EXPECT_NE(outcome.detail.find("libcurl4"), std::string::npos) << outcome.detail;
}

}  // namespace
}  // namespace kw::llm::test
