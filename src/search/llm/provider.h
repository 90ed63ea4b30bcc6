// The port to language models: one exchange with one model. http_provider.h and command_provider.h
// implement it; retries, budgets, ledgers and cassettes are decorators of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "llm/reply.h"
#include "llm/request.h"

namespace kw::llm {

/// Marks: the provider caches what is marked. Automatic: the provider chooses the prefixes.
enum class Caching : uint8_t { None, Automatic, Marks };

struct Capabilities {
  bool tools = true;
  Caching caching = Caching::None;
  bool reasoning = true;
  bool streaming = true;
};

/// How a caller watches one exchange. Both functions may be empty; both run on the calling thread.
struct Watch {
  /// Called with text as it arrives, without thinking. A failed attempt may already have sent text.
  std::function<void(std::string_view text)> on_text = {};
  /// Polled often; true ends the exchange with FailureKind::Cancelled. Ctrl-C (os/interrupt.h) also
  /// ends it.
  std::function<bool()> cancelled = {};
};

class LlmProvider {
 public:
  virtual ~LlmProvider();
  /// The provider part of a model id: "anthropic".
  virtual std::string name() const = 0;
  virtual Capabilities capabilities() const = 0;
  /// One exchange; blocks. May be called from several threads at once.
  virtual Outcome complete(const Request& request, const Watch& watch) = 0;

  Outcome ask(const Request& request) { return complete(request, Watch{}); }
};

/// A provider that changes exchanges with another one, which it borrows.
class ProviderDecorator : public LlmProvider {
 public:
  explicit ProviderDecorator(LlmProvider& inner) : inner_(inner) {}
  std::string name() const override { return inner_.name(); }
  Capabilities capabilities() const override { return inner_.capabilities(); }

 protected:
  LlmProvider& inner_;
};

}  // namespace kw::llm
