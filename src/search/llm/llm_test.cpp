#include <fmt/core.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/text.h"
#include "llm/command_provider.h"
#include "llm/config.h"
#include "llm/http_failure.h"
#include "llm/message_json.h"
#include "llm/prices.h"
#include "llm/request.h"
#include "llm/secret.h"
#include "llm/sse.h"
#include "os/disk.h"
#include "os/files.h"

namespace kw::llm {
namespace {

// A key cannot be written by accident: not by fmt, not by a stream, not as a string.
static_assert(!fmt::has_formatter<Secret, fmt::format_context>::value);
static_assert(!std::is_convertible_v<Secret, std::string>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);

TEST(Secret, IsTakenOutOfTexts) {
  const Secret key("ab\"c/1234567");
  EXPECT_EQ(key.redact("x ab\"c/1234567 y"), "x [key] y");
  EXPECT_EQ(key.redact(R"({"key": "ab\"c/1234567"})"), R"({"key": "[key]"})");
  EXPECT_EQ(key.redact("?key=ab%22c%2F1234567&x"), "?key=[key]&x");
  EXPECT_EQ(Secret().redact("abc"), "abc");
  EXPECT_EQ(Secret("EMPTY").redact("an EMPTY line"), "an EMPTY line");
}

// A server may quote the key in other forms, or a part of it.
TEST(Secret, IsTakenOutInOtherForms) {
  const std::string text = "sk-test-0123456789abcdef/+?";
  const Secret key(text);
  for (const char* quoted :
       {"c2stdGVzdC0wMTIzNDU2Nzg5YWJjZGVmLys/", "QmVhcmVyIHNrLXRlc3QtMDEyMzQ1Njc4OWFiY2RlZi8rPw==",
        "OiBzay10ZXN0LTAxMjM0NTY3ODlhYmNkZWYvKz8K", "ICAgIHNrLXRlc3QtMDEyMzQ1Njc4OWFiY2RlZi8rPw",
        "?+/fedcba9876543210-tset-ks", "sk-test-01234567", "sk-test-0123",
        "sk-test-0123456789abcdef/+", "sk-test-0123456789abcdef%2F%2B%3F"}) {
    const std::string shown = key.redact("before " + std::string(quoted) + " after");
    EXPECT_NE(shown.find("[key]"), std::string::npos) << quoted << ": " << shown;
    EXPECT_LT(shown.size(), std::string("before [key] after").size() + 14)
        << quoted << ": " << shown;
    std::string held, pieces;
    for (const char one : std::string(quoted))
      pieces += key.redact_piece(std::string(1, one), held);
    pieces += key.redact(held);
    EXPECT_NE(pieces.find("[key]"), std::string::npos) << quoted << ": " << pieces;
    EXPECT_EQ(pieces.find("sk-test"), std::string::npos) << quoted << ": " << pieces;
  }
  EXPECT_EQ(key.redact("sk-test-012"), "sk-test-012") << "too short to be a part of it";
}

// However it is cut, encoded or escaped: no 12 characters of it in a row stay, whole or in pieces.
TEST(Secret, IsTakenOutInParts) {
  const Secret key("sk-Test/0123456789+abcdefXYZ");
  for (const char* quoted : {
           "0123456789+abcdefXYZ",                          // an end
           "56789+abcdef",                                  // from the middle
           "SK-TEST/0123456789+ABCDEFXYZ",                  // another case
           "ZYXfedcba+98",                                  // an end, reversed
           "736b2d546573742f303132333435363738392b6162",    // hex
           "736B2D546573742F3031",                          // hex in capitals
           "MDEyMzQ1Njc4OSthYmNkZWZYWVo=",                  // base64 of an end
           "c2stVGVzdC8wMTIzNDU2Nzg5K2FiY2RlZlhZWg",        // without padding
           "c2stVGVzdC8wMTIzNDU2Nzg5K2FiY2RlZlhZWg%3D%3D",  // within a URL
           "WllYZmVkY2JhKzk4NzY1NDMyMTAvdHNlVC1rcw==",      // base64 of the reverse
           "sk%2DTest/0123456789%2Babcdef",                 // some characters escaped
           "%73%6b%2d%54%65%73%74%2f%30%31%32%33%34",       // all of them
           "sk-Test\\/0123456789\\u002babcdefXYZ",          // JSON
           "\\u0073\\u006B-Test/0123456",
       }) {
    const std::string whole = "before " + std::string(quoted) + " after";
    const std::string want = "before [key] after";
    const std::string shown = key.redact(whole);
    EXPECT_LT(shown.size(), want.size() + 8) << quoted << ": " << shown;
    EXPECT_NE(shown.find("[key]"), std::string::npos) << quoted << ": " << shown;
    for (const size_t size : {1, 2, 3, 5, 11, 13}) {
      std::string held, pieces;
      for (size_t at = 0; at < whole.size(); at += size)
        pieces += key.redact_piece(std::string_view(whole).substr(at, size), held);
      EXPECT_EQ(pieces + key.redact(held), shown) << quoted << " in pieces of " << size;
    }
  }
  const std::string harmless = "sk-Test/012 100% \\u0041 \\n %zz base64 deadbeef % \\";
  EXPECT_EQ(key.redact(harmless), harmless);
}

TEST(Secret, RepeatedWithoutEndIsNotKeptWithoutEnd) {
  const Secret key("sk-abcdabcde");
  std::string held, shown;
  for (int i = 0; i < 1000; ++i) {
    shown += key.redact_piece("sk-abcdabcd", held);
    shown += key.redact_piece("e", held);
    ASSERT_LT(held.size(), 1000U);
  }
  EXPECT_EQ(shown.find("sk-abcdabcde"), std::string::npos);
}

TEST(Secret, IsTakenOutOfPiecesOfEverySize) {
  const Secret key("sk-abcdabcde");
  const std::string text = "a sk-abcdabcde b sk-absk-abcdabcdesk-abcdab";
  for (size_t size = 1; size <= text.size(); ++size) {
    std::string held, shown;
    for (size_t at = 0; at < text.size(); at += size)
      shown += key.redact_piece(text.substr(at, size), held);
    EXPECT_EQ(shown + held, "a [key] b sk-ab[key]sk-abcdab") << size;
  }
}

TEST(Secret, FilesMustBePrivate) {
  char pattern[] = "/tmp/kw_key_XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  const std::string path = folder + "/key";
  ASSERT_TRUE(os::write_file(path, "  sk-from-file\n"));
  ::chmod(path.c_str(), 0644);
  auto loose = read_secret_file(path);
  ASSERT_FALSE(loose);
  EXPECT_NE(loose.error().message.find("chmod 600"), std::string::npos);
  EXPECT_EQ(loose.error().message.find("sk-from-file"), std::string::npos);
  ::chmod(path.c_str(), 0600);
  auto tight = read_secret_file(path);
  ASSERT_TRUE(tight) << tight.error().message;
  EXPECT_EQ(tight->reveal(), "sk-from-file");
  ASSERT_TRUE(os::write_file(path, "two words"));
  ::chmod(path.c_str(), 0600);
  EXPECT_FALSE(read_secret_file(path));
  ASSERT_TRUE(os::write_file(path, " \n"));
  ::chmod(path.c_str(), 0600);
  EXPECT_FALSE(read_secret_file(path));
  EXPECT_FALSE(read_secret_file(folder + "/absent"));
  EXPECT_TRUE(os::real_disk().remove(folder));
}

struct SseCase {
  const char* name;
  std::string bytes;
  std::string want;  // events as "type|data;"
};

class Sse : public ::testing::TestWithParam<SseCase> {};

TEST_P(Sse, GivesTheSameEventsHoweverItIsCut) {
  const std::string& bytes = GetParam().bytes;
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    std::string events;
    SseParser parser([&](const SseEvent& event) { events += event.type + "|" + event.data + ";"; });
    parser.feed(std::string_view(bytes).substr(0, cut));
    parser.feed(std::string_view(bytes).substr(cut));
    parser.finish();
    EXPECT_EQ(events, GetParam().want) << "cut at " << cut;
  }
  std::string events;
  SseParser parser([&](const SseEvent& event) { events += event.type + "|" + event.data + ";"; });
  for (const char c : bytes) parser.feed(std::string_view(&c, 1));
  parser.finish();
  EXPECT_EQ(events, GetParam().want) << "byte by byte";
}

const SseCase kSseCases[] = {
    {"plain", "data: a\n\ndata: b\n\n", "|a;|b;"},
    {"typed", "event: x\ndata: a\n\ndata: b\n\n", "x|a;|b;"},
    {"crlf", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "x|a;|b;"},
    {"cr", "data: a\r\rdata: b\r\r", "|a;|b;"},
    {"lines", "data: a\ndata: b\ndata:\n\n", "|a\nb\n;"},
    {"comments", ": ping\n\ndata:a\n: x\n\n", "|a;"},
    {"others", "id: 7\nretry: 10\ndata: a\nunknown\n\n", "|a;"},
    {"no_data", "event: x\n\ndata: a\n\n", "|a;"},
    {"unfinished", "data: a\n\ndata: b", "|a;|b;"},
    {"two_blanks", "data:  a\n\n", "| a;"},
    {"mark",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     "|a;"},
    {"utf8", "data: é…\n\n", "|é…;"},
};
INSTANTIATE_TEST_SUITE_P(All, Sse, ::testing::ValuesIn(kSseCases),
                         [](const auto& row) { return std::string(row.param.name); });

Config built_in_config() { return parse_config("", "/etc/providers.toml").value(); }

TEST(ModelIds, AreProviderAndModel) {
  const Config config = built_in_config();
  const auto id = [&](const std::string& text) {
    const auto parsed = parse_model_id(text, config);
    return parsed ? parsed->provider + "|" + parsed->model : "error: " + parsed.error().message;
  };
  EXPECT_EQ(id("claude-sonnet-4-6"), "anthropic|claude-sonnet-4-6");
  EXPECT_EQ(id("anthropic:claude-sonnet-4-6"), "anthropic|claude-sonnet-4-6");
  EXPECT_EQ(id("openai:gpt-5.2"), "openai|gpt-5.2");
  EXPECT_EQ(id("ollama:llama3:8b"), "ollama|llama3:8b");
  EXPECT_EQ(id("command:claude -p 'a:b'"), "command|claude -p 'a:b'");
  EXPECT_NE(id("antropic:x").find("did you mean 'anthropic'"), std::string::npos);
  EXPECT_NE(id("nobody:x").find("/etc/providers.toml"), std::string::npos);
  EXPECT_NE(id("openai:").find("names no model"), std::string::npos);
  EXPECT_NE(id("").find("names no model"), std::string::npos);
}

struct TomlCase {
  const char* name;
  const char* text;
  const char* says;
};
class BadToml : public ::testing::TestWithParam<TomlCase> {};

TEST_P(BadToml, IsNamedWithItsPlace) {
  const auto config = parse_config(GetParam().text, "p.toml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().blame, Blame::Input);
  EXPECT_EQ(config.error().message.rfind("p.toml:", 0), 0u) << config.error().message;
  EXPECT_NE(config.error().message.find(GetParam().says), std::string::npos)
      << config.error().message;
}

const TomlCase kTomlCases[] = {
    {"syntax", "[provider", "p.toml:1"},
    {"unknown_table", "[povider.x]", "did you mean 'provider'"},
    {"unknown_key", "[provider.x]\nbase_ur = 1", "did you mean 'base_url'"},
    {"no_context", "[provider.openai]\ncontext_tokens = 0",
     "'context_tokens' must be 4096 or more"},
    {"no_wire", "[provider.x]\nbase_url = \"https://x\"", "wire must be one of"},
    {"bad_wire", "[provider.x]\nwire = \"soap\"\nbase_url = \"https://x\"",
     "anthropic, openai-chat"},
    {"no_url", "[provider.x]\nwire = \"gemini\"", "base_url"},
    {"ftp", "[provider.x]\nwire = \"gemini\"\nbase_url = \"ftp://x\"", "https://"},
    {"short_address", "[provider.x]\nwire = \"gemini\"\nbase_url = \"http://127.1\"",
     "plain address"},
    {"dot_behind_host", "[provider.x]\nwire = \"gemini\"\nbase_url = \"http://localhost.\"",
     "plain address"},
    {"query_in_url", "[provider.x]\nwire = \"gemini\"\nbase_url = \"https://x/?k=1\"",
     "plain address"},
    {"user_in_url", "[provider.x]\nwire = \"gemini\"\nbase_url = \"https://a@x\"", "plain address"},
    {"command", "[provider.command]\nwire = \"gemini\"\nbase_url = \"https://x\"", "cannot name"},
    {"type", "[provider.anthropic]\ntools = \"yes\"", "true or false"},
    {"negative", "[provider.anthropic]\nmax_parallel = -1", "'max_parallel' must be 0 or more"},
    {"word", "[provider.anthropic]\nkey = \"maybe\"", "required, optional, none"},
    {"injection", "[provider.anthropic]\nheaders = { x = \"a\\nb: c\" }", "one line"},
    {"header_key", "[provider.anthropic]\nheaders = { X-Api-Key = \"k\" }", "key_env or key_file"},
    {"header_name", "[provider.anthropic]\nheaders = { \"a: b\" = \"c\" }", "name of a header"},
    {"price_model", "[[price]]\nmodel = \"x\"\ninput = 1\noutput = 1", "provider:model"},
    {"price_half", "[[price]]\nmodel = \"a:b\"\ninput = 1", "needs model"},
    {"price_negative", "[[price]]\nmodel = \"a:b\"\ninput = -1\noutput = 1",
     "'input' must be from 0"},
    {"price_table", "[price]\nx = 1", "[[price]]"},
};
INSTANTIATE_TEST_SUITE_P(All, BadToml, ::testing::ValuesIn(kTomlCases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Config, AUsersRowsWin) {
  const auto config = parse_config(
      "[provider.anthropic]\nbase_url = \"https://proxy.example/\"\n"
      "[provider.mine]\nwire = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = "
      "\"none\"\nfree = true\n"
      "[[model]]\nwire = \"openai-chat\"\nprefix = \"gpt-5\"\nthinking = \"none\"\n"
      "[[price]]\nmodel = \"anthropic:claude-sonnet-4-6\"\ninput = 1\noutput = 2\n",
      "p.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->provider("anthropic")->base_url, "https://proxy.example");
  EXPECT_EQ(config->provider("anthropic")->key_env, "ANTHROPIC_API_KEY");
  EXPECT_EQ(config->model("openai-chat", "gpt-5.2").thinking, Thinking::None);
  EXPECT_EQ(config->price("anthropic", "claude-sonnet-4-6")->rates.output, 2);
  EXPECT_EQ(config->price("mine", "anything")->rates.output, 0);
  EXPECT_FALSE(config->price("openai", "gpt-99"));
  EXPECT_FALSE(config->price("command", "claude -p"));
}

TEST(Config, TheFileIsFoundByTheEnvironment) {
  ::setenv("KERNELWRIGHT_PROVIDERS", "/nowhere/p.toml", 1);
  const auto missing = load_config();
  ASSERT_FALSE(missing);  // the variable names it, so it must exist
  EXPECT_NE(missing.error().message.find("/nowhere/p.toml"), std::string::npos);
  ::unsetenv("KERNELWRIGHT_PROVIDERS");
  ::setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  const auto none = load_config();
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(none->user_file, "/nowhere/kernelwright/providers.toml");
  ::unsetenv("XDG_CONFIG_HOME");
}

TEST(Config, KeysComeFromTheEnvironmentOnly) {
  ProviderRow row;
  row.name = "x";
  row.key_env = "KW_LLM_TEST_KEY";
  ::unsetenv("KW_LLM_TEST_KEY");
  auto key = find_key(row);
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().message.find("set KW_LLM_TEST_KEY"), std::string::npos);
  ::setenv("KW_LLM_TEST_KEY", " abc\n", 1);
  EXPECT_EQ(find_key(row)->reveal(), "abc");
  ::setenv("KW_LLM_TEST_KEY", "a\r\nx-evil: 1", 1);
  EXPECT_FALSE(find_key(row));
  row.key = KeyNeed::None;
  EXPECT_TRUE(find_key(row)->empty());
  ::unsetenv("KW_LLM_TEST_KEY");
}

TEST(Prices, EveryBuiltInRowIsDated) {
  const Config config = built_in_config();
  EXPECT_GE(config.prices.rows().size(), 20u);
  for (const Price& price : config.prices.rows()) {
    EXPECT_EQ(price.as_of.size(), 10u) << price.model;
    EXPECT_EQ(price.source.rfind("https://", 0), 0u) << price.model;
    EXPECT_GT(price.rates.input, 0) << price.model;
    EXPECT_GE(price.rates.output, price.rates.input) << price.model;
    EXPECT_LE(price.rates.cache_read, price.rates.input) << price.model;
  }
}

TEST(Prices, FollowTheTable) {
  const Config config = built_in_config();
  const Price sonnet = *config.price("anthropic", "claude-sonnet-4-6");
  Usage usage{true, 1'000'000, 100'000, 2'000'000, 400'000, 0};
  EXPECT_NEAR(sonnet.usd(usage), 3 + 1.5 + 0.6 + 1.5, 1e-9);
  const Price pro = *config.price("gemini", "gemini-2.5-pro");
  EXPECT_NEAR(pro.usd({true, 200'000, 0, 0, 0, 0}), 0.25, 1e-9);
  EXPECT_NEAR(pro.usd({true, 200'001, 0, 0, 0, 0}), 200'001 * 2.5e-6, 1e-9);
  EXPECT_NEAR(pro.usd({true, 100'000, 0, 150'000, 0, 0}), 0.25 + 0.0375, 1e-9);
  EXPECT_TRUE(config.price("anthropic", "claude-sonnet-4-6-20260217"));
  EXPECT_TRUE(config.price("anthropic", "claude-sonnet-4-6-latest"));
  EXPECT_TRUE(config.price("openai-responses", "gpt-5.2-2025-12-11"));
  EXPECT_FALSE(config.price("openai", "gpt-5.2-pro"));
  EXPECT_FALSE(config.price("anthropic", "claude-sonnet-4-66"));
}

TEST(Prices, TheUpperEstimateHolds) {
  const Config config = built_in_config();
  for (const Price& price : config.prices.rows()) {
    for (const Usage& usage : {Usage{true, 1000, 50, 0, 0, 0}, Usage{true, 0, 50, 1000, 0, 0},
                               Usage{true, 0, 50, 0, 1000, 0}, Usage{true, 300'000, 9, 9, 9, 0}}) {
      const int64_t input = usage.input + usage.cache_read + usage.cache_write;
      EXPECT_GE(price.most_usd(input, usage.output) + 1e-12, price.usd(usage)) << price.model;
    }
  }
}

TEST(RetryAfter, IsANumberOrADate) {
  const auto after = [](const char* name, const char* value, const char* date = "") {
    HttpReply reply;
    reply.headers = {{name, value}, {"date", date}};
    return retry_after(reply, 1'700'000'000).value_or(-1);
  };
  EXPECT_EQ(after("retry-after", "3"), 3);
  EXPECT_EQ(after("retry-after", "0.5"), 0.5);
  EXPECT_EQ(after("retry-after", "-3"), 0);
  EXPECT_EQ(after("retry-after-ms", "250"), 0.25);
  EXPECT_EQ(after("retry-after", "Tue, 14 Nov 2023 22:13:50 GMT"), 30);
  EXPECT_EQ(after("retry-after", "Tue, 14 Nov 2023 22:13:50 GMT", "Tue, 14 Nov 2023 22:13:40 GMT"),
            10);
  EXPECT_EQ(after("retry-after", "soon"), -1);
}

TEST(Errors, AreReadInAllTheirShapes) {
  const auto message = [](const char* body) {
    return error_words(Json::parse(body).value()).message;
  };
  EXPECT_EQ(message(R"({"error": {"message": "a", "type": "t"}})"), "a");
  EXPECT_EQ(message(R"({"type": "error", "error": {"type": "t", "message": "b"}})"), "b");
  EXPECT_EQ(message(R"({"error": "c"})"), "c");
  EXPECT_EQ(message(R"([{"error": {"message": "d"}}])"), "d");
  EXPECT_EQ(message(R"({"object": "error", "message": "e"})"), "e");
  EXPECT_EQ(message(R"({"detail": [{"loc": ["x"]}]})"), R"([{"loc":["x"]}])");
  EXPECT_EQ(message("{}"), "");
}

TEST(Command, IsSplitAsAShellWould) {
  const auto words = [](const std::string& line) {
    const auto split = split_command(line);
    return split ? join(*split, "|") : "error";
  };
  EXPECT_EQ(words("claude -p --model x"), "claude|-p|--model|x");
  EXPECT_EQ(words("  a  'b c' \"d \\\" e\" f\\ g ''"), "a|b c|d \" e|f g|");
  EXPECT_EQ(words("a $HOME ; rm"), "a|$HOME|;|rm");
  EXPECT_EQ(words("'open"), "error");
  EXPECT_EQ(words("   "), "error");
}

Request ask_command(const std::string& command) {
  Request request;
  request.model = command;
  request.messages = {user_message("hello")};
  request.timeout_seconds = 20;
  return request;
}

TEST(Command, AnswersWithItsOutput) {
  CommandProvider provider;
  Outcome outcome = provider.ask(ask_command("cat"));
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "hello");
  EXPECT_FALSE(outcome->usage.known);
  Request request = ask_command("cat");
  request.system = {{"be brief", Cache::No}};
  outcome = provider.ask(request);
  EXPECT_EQ(outcome->text, "# Instructions\n\nbe brief\n\n# User\n\nhello\n\n# Your answer\n");
  outcome = provider.ask(ask_command(
      R"(sh -c 'echo "{\"result\": \"hi\", \"usage\": {\"input_tokens\": 3, \"output_tokens\": 4}}"')"));
  ASSERT_TRUE(outcome) << outcome.failure().message;
  EXPECT_EQ(outcome->text, "hi");
  EXPECT_EQ(outcome->usage.output, 4);
}

TEST(Command, FailsInNamedWays) {
  CommandProvider provider;
  const auto failure = [&](const std::string& command, double timeout = 20) {
    Request request = ask_command(command);
    request.timeout_seconds = timeout;
    const Outcome outcome = provider.ask(request);
    EXPECT_FALSE(outcome) << command;
    return outcome ? Failure{} : outcome.failure();
  };
  EXPECT_EQ(failure("kw-no-such-program").kind, FailureKind::Unavailable);
  EXPECT_EQ(failure("true").kind, FailureKind::InvalidReply);
  EXPECT_EQ(failure("sleep 20", 0.1).kind, FailureKind::Timeout);
  EXPECT_EQ(failure("sh -c 'kill -9 $$'").kind, FailureKind::Server);
  EXPECT_EQ(failure("'").kind, FailureKind::NotFound);
  EXPECT_EQ(failure("head -c 11000000 /dev/zero").kind, FailureKind::InvalidReply);
  EXPECT_EQ(failure("yes").kind, FailureKind::InvalidReply);
  const Failure exited = failure("sh -c 'echo no model >&2; exit 3'");
  EXPECT_EQ(exited.kind, FailureKind::Server);
  EXPECT_NE(exited.message.find("exited with 3: no model"), std::string::npos) << exited.message;
  const Outcome stopped = provider.complete(ask_command("sleep 20"), {{}, [] { return true; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.failure().kind, FailureKind::Cancelled);
}

struct BadRequest {
  const char* name;
  void (*spoil)(Request&);
  const char* says;
};
class Requests : public ::testing::TestWithParam<BadRequest> {};

Request good_request() {
  Request request;
  request.model = "m";
  request.tools = {{"t", "does", Json(Json::Object{{"type", "object"}})}};
  request.messages = {user_message("a")};
  Message turn;
  turn.role = MessageRole::Assistant;
  turn.calls = {make_tool_call("1", "t", "{}"), make_tool_call("2", "t", "{}")};
  request.messages.push_back(turn);
  request.messages.push_back(results_message({{"1", "t", "x", false}, {"2", "t", "y", false}}));
  return request;
}

TEST_P(Requests, AreCheckedBeforeTheyAreSent) {
  Request request = good_request();
  ASSERT_TRUE(check_request(request));
  GetParam().spoil(request);
  const auto checked = check_request(request);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find(GetParam().says), std::string::npos)
      << checked.error().message;
}

const BadRequest kBadRequests[] = {
    {"no_model", [](Request& r) { r.model = ""; }, "no model"},
    {"no_messages", [](Request& r) { r.messages.clear(); }, "no message"},
    {"no_tokens", [](Request& r) { r.max_tokens = 0; }, "max_tokens"},
    {"hot", [](Request& r) { r.temperature = 3; }, "temperature"},
    {"nan", [](Request& r) { r.temperature = 0.0 / 0.0; }, "temperature"},
    {"ends_badly", [](Request& r) { r.messages.pop_back(); }, "last turn"},
    {"empty", [](Request& r) { r.messages[0].text = ""; }, "empty"},
    {"order", [](Request& r) { std::swap(r.messages[0], r.messages[1]); }, "alternate"},
    {"unanswered", [](Request& r) { r.messages[2].results.pop_back(); }, "has no result"},
    {"swapped", [](Request& r) { std::swap(r.messages[2].results[0], r.messages[2].results[1]); },
     "answers"},
    {"uncalled",
     [](Request& r) {
       r.messages[2].results.push_back({"3", "t", "z", false});
     },
     "not called"},
    {"same_id", [](Request& r) { r.messages[1].calls[1].id = "1"; }, "id '1'"},
    {"no_tools", [](Request& r) { r.tools.clear(); }, "no tools"},
    {"tool_name", [](Request& r) { r.tools[0].name = "a b"; }, "not a name for a tool"},
    {"tool_twice", [](Request& r) { r.tools.push_back(r.tools[0]); }, "two tools"},
    {"schema", [](Request& r) { r.tools[0].schema = Json("x"); }, "schema"},
};
INSTANTIATE_TEST_SUITE_P(All, Requests, ::testing::ValuesIn(kBadRequests),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ToolCalls, KeepWhatCannotBeParsed) {
  EXPECT_EQ(make_tool_call("1", "t", "").parsed.dump(), "{}");
  EXPECT_EQ(make_tool_call("1", "t", R"({"a": 1})").parsed["a"].as_int(), 1);
  EXPECT_NE(make_tool_call("1", "t", R"({"a": )").parse_error, "");
  EXPECT_NE(make_tool_call("1", "t", "[1]").parse_error, "");
  EXPECT_EQ(make_tool_call("1", "t", "[1]").arguments, "[1]");
}

TEST(Json, OutcomesSurviveIt) {
  Reply reply;
  reply.text = "text\n\"é\"";
  reply.calls = {make_tool_call("1", "t", R"({"a": 1.5})"), make_tool_call("2", "t", "{broken")};
  reply.stop = StopReason::Other;
  reply.stop_word = "pause_turn";
  reply.usage = {true, 1, 2, 3, 4, 5};
  reply.provider = "p";
  reply.model = "m";
  reply.request_id = "r";
  reply.latency_seconds = 0.1;
  reply.degraded = {"a", "b"};
  reply.opaque = {"anthropic", "m", Json(Json::Array{1, "x"})};
  const std::string first = to_json(Outcome(reply)).dump();
  EXPECT_EQ(to_json(*outcome_from_json(Json::parse(first).value())).dump(), first);
  Failure failure;
  for (const FailureKind kind :
       {FailureKind::Auth, FailureKind::RateLimited, FailureKind::Unavailable}) {
    failure.kind = kind;
    failure.message = "m";
    failure.retry_after_seconds = 2.5;
    failure.status = 429;
    failure.sent = true;
    const std::string text = to_json(Outcome(failure)).dump();
    EXPECT_EQ(to_json(*outcome_from_json(Json::parse(text).value())).dump(), text);
  }
  EXPECT_FALSE(outcome_from_json(Json()));
  EXPECT_FALSE(outcome_from_json(Json::parse(R"({"failure": {"kind": "x"}})").value()));
}

TEST(Json, TheFirstDifferenceIsNamed) {
  const auto differ = [](const char* a, const char* b) {
    return first_difference(Json::parse(a).value(), Json::parse(b).value());
  };
  EXPECT_EQ(differ(R"({"a": [1, {"b": "x"}]})", R"({"a": [1, {"b": "x"}]})"), "");
  EXPECT_EQ(differ(R"({"a": [1, {"b": "xyz"}]})", R"({"a": [1, {"b": "xaz"}]})"),
            "a[1].b: byte 1: recorded 'xyz', now 'xaz'");
  EXPECT_EQ(differ(R"({"a": 1})", R"({"a": 2})"), "a: recorded 1, now 2");
  EXPECT_EQ(differ(R"({"a": [1]})", R"({"a": [1, 2]})"), "a: recorded 1 items, now 2");
  EXPECT_EQ(differ(R"({"a": 1})", R"({})"), "a: recorded, but not there now");
  EXPECT_EQ(differ(R"({})", R"({"a": 1})"), "a: not recorded, but there now");
}

}  // namespace
}  // namespace kw::llm
