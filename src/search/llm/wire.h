// The four wire formats as rows: how a request is written, how a reply is read, how a stream is put
// together into the body that a reply without streaming would have had. Pure text in and out.
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

/// Whom a request is written for.
struct WireTarget {
  const ProviderRow& row;
  ModelRow model;
  Streaming streaming = Streaming::Yes;
};

/// Events of one stream -> the whole body.
class Assembler {
 public:
  virtual ~Assembler();
  /// Takes the JSON of one event; gives the text to show.
  virtual std::string take(const SseEvent& event, const Json& data) = 0;
  /// Whether the reply has said that it is complete.
  virtual bool finished() const = 0;
  /// As much as arrived, in the form `Wire::read` reads. An error event leaves {"error": …} in it.
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
  /// What cannot be said in this format is left out and named in `degraded`.
  Json (*body)(const Request&, const WireTarget&, std::vector<std::string>& degraded);
  /// A body with status 200: a reply without provider, request id and latency, or
  /// InvalidReply/Refused.
  Outcome (*read)(const Json& body);
  std::unique_ptr<Assembler> (*assemble)();
};

/// nullptr = unknown.
const Wire* find_wire(const std::string& name);
std::vector<std::string> wire_names();

extern const Wire kAnthropicWire;
extern const Wire kOpenAiChatWire;
extern const Wire kOpenAiResponsesWire;
extern const Wire kGeminiWire;

/// Gives every call an id that the conversation does not have yet, and a name every format accepts.
void tidy_calls(const Request& request, Reply& reply);
/// A failure of kind InvalidReply.
Failure invalid_reply(std::string message);
/// A reply that holds nothing and does not say why: InvalidReply, with what it cost.
std::optional<Failure> empty_reply(const Reply& reply);
/// All system blocks as one text, separated by empty lines.
std::string joined_system(const Request& request);
/// Arguments as an object, and as its text: servers choke on broken JSON in a conversation.
Json arguments_object(const ToolCall& call);
std::string arguments_text(const ToolCall& call);
/// What a budget of thinking tokens means as a word, and the other way round.
const char* effort_of(const Reasoning& reasoning);
int64_t budget_of(const Reasoning& reasoning);
/// Notes that a temperature was asked for and the model takes none; true when it may be sent.
bool may_send_temperature(const Request& request, const WireTarget& target,
                          std::vector<std::string>& degraded);

}  // namespace kw::llm
