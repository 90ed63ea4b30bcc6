// The four wire formats as rows: how to write a request, read a reply, and assemble a stream into
// the body of a reply without streaming. Pure functions on text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llm/config.h"
#include "llm/provider.h"
#include "llm/sse.h"

namespace kw::llm {

enum class Streaming : uint8_t { No, Yes };

/// The provider and model that a request is written for.
struct WireTarget {
  const ProviderRow& row;
  ModelRow model;
  Streaming streaming = Streaming::Yes;
};

/// Assembles the events of one stream into the whole body.
class Assembler {
 public:
  virtual ~Assembler();
  /// Takes the JSON of one event; returns the text to show.
  virtual std::string take(const SseEvent& event, const Json& data) = 0;
  /// Whether the stream has signalled the end of the reply.
  virtual bool finished() const = 0;
  /// The part that arrived, in the form that `Wire::read` reads. After an error event it has an
  /// "error" member.
  virtual Json body() const = 0;
};

struct Wire {
  const char* name;
  const char* key_header;
  const char* key_prefix;
  const char* fixed_header;  // "anthropic-version: 2023-06-01", or nullptr
  const char* request_id_header;
  /// Below the base URL.
  std::string (*path)(const Request&, Streaming);
  /// What the format cannot express is left out and listed in `degraded`.
  Json (*body)(const Request&, const WireTarget&, std::vector<std::string>& degraded);
  /// Reads a body with status 200. Returns a reply without provider, request id and latency, or an
  /// InvalidReply or Refused failure.
  Outcome (*read)(const Json& body);
  std::unique_ptr<Assembler> (*assemble)();
};

/// nullptr: unknown.
const Wire* find_wire(const std::string& name);
std::vector<std::string> wire_names();

extern const Wire kAnthropicWire;
extern const Wire kOpenAiChatWire;
extern const Wire kOpenAiResponsesWire;
extern const Wire kGeminiWire;

/// Gives every call an id that is new in the conversation, and a name that every format accepts.
void tidy_calls(const Request& request, Reply& reply);
/// A failure of kind InvalidReply.
Failure invalid_reply(std::string message);
/// A number of tokens. One that cannot be (negative, or more than any model has) makes possible()
/// answer that the usage is unknown: such numbers would give a budget back what was spent.
int64_t tokens_of(const Json& count);
Usage possible(const Usage& usage);
/// InvalidReply with the usage, when the reply is empty and its stop reason does not explain it.
std::optional<Failure> empty_reply(const Reply& reply);
/// All system blocks as one text, separated by empty lines.
std::string joined_system(const Request& request);
/// Arguments as an object, and as its text. Broken JSON is wrapped, because servers reject it.
Json arguments_object(const ToolCall& call);
std::string arguments_text(const ToolCall& call);
/// The effort word for a budget of thinking tokens, and the budget for an effort.
const char* effort_of(const Reasoning& reasoning);
int64_t budget_of(const Reasoning& reasoning);
/// True when a temperature is set and the model accepts it. Adds a note to `degraded` when the
/// model does not.
bool may_send_temperature(const Request& request, const WireTarget& target,
                          std::vector<std::string>& degraded);

}  // namespace kw::llm
