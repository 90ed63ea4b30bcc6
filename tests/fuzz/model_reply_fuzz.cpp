// What a provider answers, in the four formats: the first byte chooses the format, the second
// whether it is a stream. A reply is read, or it is a failure that says why.
#include "drive.h"
#include "llm/sse.h"
#include "llm/wire.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"data: ",
                                          "event: ",
                                          "\n\n",
                                          "\r\n",
                                          "\"content\": [",
                                          "\"type\": \"text\"",
                                          "\"text\": \"x\"",
                                          "\"tool_calls\": [",
                                          "\"arguments\": \"{\"",
                                          "\"usage\": {",
                                          "\"input_tokens\": -1",
                                          "\"output_tokens\": 9223372036854775807",
                                          "\"stop_reason\": null",
                                          "\"choices\": [",
                                          "\"candidates\": [",
                                          "\"parts\": [",
                                          "\"delta\": {",
                                          "\"index\": 99999999",
                                          "\"error\": {",
                                          "[DONE]",
                                          "null",
                                          "[]",
                                          "{}",
                                          "1e999",
                                          "\\ud800",
                                          "\"output\": [",
                                          "\"index\": -1"};

namespace {

Json whole_of(const llm::Wire& wire, const std::string& bytes) {
  const std::unique_ptr<llm::Assembler> assembler = wire.assemble();
  llm::SseParser parser([&](const llm::SseEvent& event) {
    if (const Result<Json> data = Json::parse(event.data)) assembler->take(event, *data);
  });
  for (size_t at = 0; at < bytes.size(); at += 7)
    parser.feed(std::string_view(bytes).substr(at, 7));
  parser.finish();
  return assembler->body();
}

}  // namespace

void check(const std::string& bytes) {
  if (bytes.size() < 2) return;
  const llm::Wire* const wires[] = {&llm::kAnthropicWire, &llm::kOpenAiChatWire,
                                    &llm::kOpenAiResponsesWire, &llm::kGeminiWire};
  const llm::Wire& wire = *wires[static_cast<unsigned char>(bytes[0]) % 4];
  const std::string rest = bytes.substr(2);
  Json body;
  if (bytes[1] == 's') {
    body = whole_of(wire, rest);
  } else if (const Result<Json> parsed = Json::parse(rest)) {
    body = *parsed;
  }
  const llm::Outcome outcome = wire.read(body);
  if (!outcome) return require(!outcome.failure().message.empty(), "a failure says why");
  llm::Reply reply = *outcome;
  require(reply.usage.input >= 0 && reply.usage.output >= 0 && reply.usage.cache_read >= 0 &&
              reply.usage.cache_write >= 0 && reply.usage.total() >= 0,
          "no tokens are given back");
  llm::tidy_calls({}, reply);
  (void)llm::assistant_message(reply);
}

}  // namespace kw::fuzz
