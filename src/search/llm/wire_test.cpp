// Tests what is written for each vendor, as golden JSON, and what is read, also from faulty
// servers.
#include "llm/wire.h"

#include <gtest/gtest.h>

#include "core/golden.h"

#include "core/random.h"
#include "llm/http_failure.h"
#include "llm/http_provider.h"

namespace kw::llm {
namespace {

void expect_golden(const std::string& name, const std::string& got) {
  kw::expect_golden(std::string(KW_SOURCE_DIR) + "/tests/golden/llm/" + name + ".json", got);
}

Request plain() {
  Request request;
  request.messages = {user_message("6 * 7?")};
  request.max_tokens = 100;
  return request;
}

/// A request with every feature of a conversation.
Request rich() {
  Request request;
  request.max_tokens = 16000;
  request.system = {
      {"The contract.", Cache::No}, {"The catalogue.", Cache::Mark}, {"The task.", Cache::Mark}};
  request.tools = {
      {"compile", "Compiles a module.",
       Json::parse(R"({"type": "object", "additionalProperties": false,
                      "properties": {"source": {"type": "string"}, "n": {"type": "integer", "default": 1}},
                      "required": ["source"]})")
           .value()},
      {"stop", "Ends it.", Json::parse(R"({"type": "object", "properties": {}})").value()}};
  request.messages = {user_message("Write \"it\".\n")};
  Message turn;
  turn.role = MessageRole::Assistant;
  turn.text = "Compiling.";
  turn.calls = {make_tool_call("c1", "compile", R"({"source": "é"})"),
                make_tool_call("c2", "compile", R"({"source": )")};
  request.messages.push_back(turn);
  Message results =
      results_message({{"c1", "compile", "ok", false}, {"c2", "compile", "no JSON", true}});
  results.text = "Go on.";
  results.cache = Cache::Mark;
  request.messages.push_back(results);
  request.temperature = 0.5;
  request.stop = {"END"};
  return request;
}

Request thinking() {
  Request request = plain();
  request.max_tokens = 9000;
  request.reasoning = {Effort::Medium, 5000};
  return request;
}

struct Case {
  const char* name;
  const char* provider;
  const char* model;
  Request (*request)();
  Streaming streaming;
};

class Bodies : public ::testing::TestWithParam<Case> {};

TEST_P(Bodies, AreGolden) {
  const Config config = parse_config("", "p.toml").value();
  const ProviderRow& row = *config.provider(GetParam().provider);
  Request request = GetParam().request();
  request.model = GetParam().model;
  const Wire& wire = *find_wire(row.wire);
  std::vector<std::string> degraded;
  const WireTarget target{row, config.model(row.wire, request.model), GetParam().streaming};
  Json golden = Json::object();
  golden.set("path", wire.path(request, GetParam().streaming));
  golden.set("body", wire.body(request, target, degraded));
  Json notes = Json::array();
  for (const std::string& note : degraded) notes.push(note);
  golden.set("degraded", std::move(notes));
  expect_golden(GetParam().name, golden.dump(true) + "\n");
}

const Case kCases[] = {
    {"anthropic_plain", "anthropic", "claude-sonnet-4-6", plain, Streaming::No},
    {"anthropic_rich", "anthropic", "claude-sonnet-4-6", rich, Streaming::Yes},
    {"anthropic_thinking", "anthropic", "claude-sonnet-4-6", thinking, Streaming::Yes},
    {"anthropic_adaptive", "anthropic", "claude-opus-4-7", thinking, Streaming::Yes},
    {"anthropic_rich_adaptive", "anthropic", "claude-opus-4-7", rich, Streaming::Yes},
    {"openai_plain", "openai", "gpt-4.1", plain, Streaming::No},
    {"openai_rich", "openai", "gpt-4.1", rich, Streaming::Yes},
    {"openai_thinking", "openai", "gpt-5.2", thinking, Streaming::Yes},
    {"openai_rich_thinker", "openai", "gpt-5.2", rich, Streaming::Yes},
    {"ollama_rich", "ollama", "qwen3:8b", rich, Streaming::Yes},
    {"openrouter_thinking", "openrouter", "openai/gpt-5.2", thinking, Streaming::Yes},
    {"responses_plain", "openai-responses", "gpt-4.1", plain, Streaming::No},
    {"responses_rich", "openai-responses", "gpt-4.1", rich, Streaming::Yes},
    {"responses_thinking", "openai-responses", "gpt-5.2", thinking, Streaming::Yes},
    {"gemini_plain", "gemini", "gemini-2.5-pro", plain, Streaming::No},
    {"gemini_rich", "gemini", "gemini-2.5-pro", rich, Streaming::Yes},
    {"gemini_thinking", "gemini", "gemini-2.5-pro", thinking, Streaming::Yes},
    {"gemini_level", "gemini", "gemini-3-pro-preview", thinking, Streaming::Yes},
    {"gemini_odd_name", "gemini", "models/a b?c", plain, Streaming::No},
};
INSTANTIATE_TEST_SUITE_P(All, Bodies, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Bodies, OnlyTheLastFourMarksAreSent) {
  const Config config = parse_config("", "p.toml").value();
  const ProviderRow& row = *config.provider("anthropic");
  Request request = plain();
  request.system.assign(6, {"x", Cache::Mark});
  std::vector<std::string> degraded;
  const Json body = kAnthropicWire.body(request, {row, {}, Streaming::No}, degraded);
  int marks = 0;
  for (const Json& block : body["system"].items()) marks += block.contains("cache_control");
  EXPECT_EQ(marks, 4);
  EXPECT_FALSE(body["system"].items()[1].contains("cache_control"));
  EXPECT_EQ(degraded.size(), 1u);
}

/// One recorded stream per format.
struct Stream {
  const Wire* wire;
  const char* bytes;
};
const Stream kStreams[] = {
    {&kAnthropicWire,
     R"(event: message_start
data: {"type":"message_start","message":{"id":"m","model":"claude-x","content":[],"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hel"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"compile","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":": 1}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}

event: message_stop
data: {"type":"message_stop"}

)"},
    {&kOpenAiChatWire,
     R"(data: {"model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"model":"gpt-x","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}

data: {"model":"gpt-x","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}

data: {"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"compile","arguments":""}}]},"finish_reason":null}]}

data: {"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]},"finish_reason":null}]}

data: {"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":": 1}"}}]},"finish_reason":null}]}

data: {"model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"model":"gpt-x","choices":[],"usage":{"prompt_tokens":13,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":4}}}

data: [DONE]

)"},
    {&kOpenAiResponsesWire,
     R"(event: response.created
data: {"type":"response.created","response":{"id":"r","output":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"Hel"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"lo"}

event: response.completed
data: {"type":"response.completed","response":{"id":"r","status":"completed","model":"gpt-x","output":[{"type":"reasoning","id":"rs","encrypted_content":"e"},{"type":"message","content":[{"type":"output_text","text":"Hello"}]},{"type":"function_call","call_id":"t1","name":"compile","arguments":"{\"a\": 1}"}],"usage":{"input_tokens":13,"output_tokens":20,"input_tokens_details":{"cached_tokens":4}}}}

)"},
    {&kGeminiWire,
     R"(data: {"candidates":[{"content":{"role":"model","parts":[{"text":"plan","thought":true}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"compile","args":{"a":1}},"thoughtSignature":"s"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":13,"candidatesTokenCount":15,"thoughtsTokenCount":5,"cachedContentTokenCount":4},"modelVersion":"gemini-x"}

)"},
};

/// Gives HttpProvider a fixed reply.
class CannedHttp : public Http {
 public:
  CannedHttp(std::string body, std::string type, size_t piece)
      : body_(std::move(body)), type_(std::move(type)), piece_(piece) {}
  HttpOutcome send(const HttpRequest&, const HttpWatch& watch) override {
    HttpOutcome outcome;
    outcome.sent = true;
    outcome.reply.status = 200;
    outcome.reply.headers = {{"content-type", type_}};
    for (size_t at = 0; at < body_.size(); at += piece_) {
      const std::string_view bytes = std::string_view(body_).substr(at, piece_);
      outcome.reply.body += bytes;
      watch.on_data(outcome.reply, bytes);
    }
    return outcome;
  }

 private:
  std::string body_, type_;
  size_t piece_;
};

Outcome play(const Stream& stream, const std::string& bytes, const char* type, size_t piece,
             std::string* shown) {
  static const Config config = parse_config("", "p.toml").value();
  const ProviderRow* row = nullptr;
  for (const ProviderRow& candidate : config.providers) {
    if (row == nullptr && candidate.wire == stream.wire->name) row = &candidate;
  }
  CannedHttp http(bytes, type, piece);
  FakeClock clock;
  HttpProvider provider(config, *row, Secret("k-e-y"), http, clock);
  Request request = plain();
  request.model = "m";
  return provider.complete(request, {[shown](std::string_view text) { *shown += text; }, {}});
}

class Streams : public ::testing::TestWithParam<Stream> {};

TEST_P(Streams, AreReadWhateverThePiecesAre) {
  const std::string bytes = GetParam().bytes;
  for (size_t piece = 1; piece < 200; piece += piece < 20 ? 1 : 37) {
    std::string shown;
    const Outcome outcome = play(GetParam(), bytes, "text/event-stream", piece, &shown);
    ASSERT_TRUE(outcome) << outcome.failure().message;
    EXPECT_EQ(outcome->text, "Hello");
    EXPECT_EQ(shown, "Hello");
    ASSERT_EQ(outcome->calls.size(), 1u);
    EXPECT_EQ(outcome->calls[0].name, "compile");
    EXPECT_EQ(outcome->calls[0].parsed["a"].as_int(), 1);
    EXPECT_EQ(outcome->stop, StopReason::ToolUse);
    EXPECT_EQ(outcome->usage.input, 9);
    EXPECT_EQ(outcome->usage.cache_read, 4);
    EXPECT_EQ(outcome->usage.output, 20);
    EXPECT_EQ(outcome->opaque.wire.empty(), GetParam().wire == &kOpenAiChatWire);
  }
}

TEST_P(Streams, CutAnywhereAreNeverTakenForWhole) {
  const std::string bytes = GetParam().bytes;
  int whole = 0;
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    std::string shown;
    const Outcome outcome = play(GetParam(), bytes.substr(0, cut), "text/event-stream", 64, &shown);
    if (!outcome) continue;
    // Only data after the end signal may be missing.
    EXPECT_EQ(outcome->text, "Hello") << cut;
    ASSERT_EQ(outcome->calls.size(), 1u) << cut;
    EXPECT_EQ(outcome->calls[0].parsed["a"].as_int(), 1) << cut;
    ++whole;
  }
  EXPECT_LT(whole, static_cast<int>(bytes.size()) / 4);
}

TEST_P(Streams, SurviveEveryMutation) {
  Random random(17);
  const std::string bytes = GetParam().bytes;
  constexpr std::string_view kOdd = "{}[]\",:0-\\ntrue\n";
  for (int round = 0; round < 3000; ++round) {
    std::string spoilt = bytes;
    for (size_t n = 1 + random.below(4); n > 0; --n) {
      const size_t at = random.below(spoilt.size());
      switch (random.below(4)) {
        case 0:
          spoilt[at] = kOdd[random.below(kOdd.size())];
          break;
        case 1:
          spoilt.erase(at, 1 + random.below(30));
          break;
        case 2:
          spoilt.insert(at, spoilt.substr(random.below(spoilt.size()), random.below(120)));
          break;
        default:
          spoilt[at] = static_cast<char>(random.below(256));
      }
      if (spoilt.empty()) spoilt = " ";
    }
    std::string shown;
    const Outcome streamed = play(GetParam(), spoilt, "text/event-stream", 61, &shown);
    const size_t brace = spoilt.find('{');
    const std::string document =
        brace == std::string::npos ? "" : spoilt.substr(brace, spoilt.find('\n', brace) - brace);
    const Outcome whole = play(GetParam(), document, "application/json", 61, &shown);
    // The outcome must be a reply with usable calls, or a failure with a message.
    for (const Outcome* outcome : {&streamed, &whole}) {
      if (!*outcome) {
        EXPECT_FALSE(outcome->failure().message.empty());
        continue;
      }
      for (const ToolCall& call : (*outcome)->calls) {
        EXPECT_FALSE(call.id.empty());
        EXPECT_FALSE(call.name.empty());
        EXPECT_EQ(call.parse_error.empty(), call.parsed.is_object());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Streams, ::testing::ValuesIn(kStreams), [](const auto& row) {
  std::string name = row.param.wire->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Urls, AreThoseOfTheVendors) {
  struct Seen : Http {
    HttpOutcome send(const HttpRequest& request, const HttpWatch&) override {
      last = request;
      return {};
    }
    HttpRequest last;
  } http;
  const Config config = parse_config("", "p.toml").value();
  FakeClock clock;
  const auto url = [&](const char* provider) {
    HttpProvider one(config, *config.provider(provider), Secret("k"), http, clock);
    Request request = plain();
    request.model = "m";
    (void)one.ask(request);
    return http.last.url + " " + http.last.key_header + ": " + http.last.key_prefix;
  };
  EXPECT_EQ(url("anthropic"), "https://api.anthropic.com/v1/messages x-api-key: ");
  EXPECT_EQ(url("openai"), "https://api.openai.com/v1/chat/completions Authorization: Bearer ");
  EXPECT_EQ(url("openai-responses"), "https://api.openai.com/v1/responses Authorization: Bearer ");
  EXPECT_EQ(url("gemini"),
            "https://generativelanguage.googleapis.com/v1beta/models/"
            "m:streamGenerateContent?alt=sse x-goog-api-key: ");
  EXPECT_EQ(url("openrouter"),
            "https://openrouter.ai/api/v1/chat/completions Authorization: Bearer ");
  EXPECT_EQ(url("groq"), "https://api.groq.com/openai/v1/chat/completions Authorization: Bearer ");
  EXPECT_EQ(url("together"), "https://api.together.xyz/v1/chat/completions Authorization: Bearer ");
  EXPECT_EQ(url("ollama"), "http://127.0.0.1:11434/v1/chat/completions Authorization: Bearer ");
  bool versioned = false;
  (void)url("anthropic");
  for (const auto& [name, value] : http.last.headers)
    versioned |= name == "anthropic-version" && value == "2023-06-01";
  EXPECT_TRUE(versioned);
}

}  // namespace
}  // namespace kw::llm
