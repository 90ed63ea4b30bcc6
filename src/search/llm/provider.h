// The port to language models: one exchange with one model. Vendors fulfil it (http_provider.h,
// command_provider.h); retries, budgets, ledgers and cassettes are decorators over it. Knows
// nothing of kernels.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "llm/reply.h"
#include "llm/request.h"

namespace kw::llm {

/// Marks = the provider keeps what is marked; Automatic = it keeps prefixes as it likes.
enum class Caching : uint8_t { None, Automatic, Marks };

struct Capabilities {
  bool tools = true;
  Caching caching = Caching::None;
  bool reasoning = true;
  bool streaming = true;
};

/// How a caller watches one exchange. Both may be empty; both are called on the thread that waits.
struct Watch {
  /// Text as it arrives (thinking is not shown). A failed attempt may have shown some already.
  std::function<void(std::string_view text)> on_text = {};
  /// Asked often; true ends the exchange with FailureKind::Cancelled. Ctrl-C (os/interrupt.h) does
  /// so without it.
  std::function<bool()> cancelled = {};
};

class LlmProvider {
 public:
  virtual ~LlmProvider();
  /// As in ids: "anthropic".
  virtual std::string name() const = 0;
  virtual Capabilities capabilities() const = 0;
  /// One exchange; blocks. May be called from several threads at once.
  virtual Outcome complete(const Request& request, const Watch& watch) = 0;

  Outcome ask(const Request& request) { return complete(request, Watch{}); }
};

}  // namespace kw::llm
