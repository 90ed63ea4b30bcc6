#include "llm/redacting.h"

#include <utility>

namespace kw::llm {

void redact(Outcome& outcome, const Secret& key) {
  if (key.empty()) return;
  if (!outcome) {
    outcome.failure().message = key.redact(outcome.failure().message);
    outcome.failure().request_id = key.redact(outcome.failure().request_id);
    return;
  }
  outcome->text = key.redact(outcome->text);
  outcome->request_id = key.redact(outcome->request_id);
  outcome->model = key.redact(outcome->model);
  for (ToolCall& call : outcome->calls)
    call = make_tool_call(key.redact(call.id), key.redact(call.name), key.redact(call.arguments));
  if (const std::string opaque = outcome->opaque.content.dump(); key.redact(opaque) != opaque)
    outcome->opaque = {};
}

Outcome Redacting::complete(const Request& request, const Watch& watch) {
  std::vector<std::string> held(keys_.size());  // by key: an end that may begin it
  Watch own = watch;
  if (watch.on_text) {
    own.on_text = [&](std::string_view text) {
      std::string shown(text);
      for (size_t i = 0; i < keys_.size(); ++i) shown = keys_[i].redact_piece(shown, held[i]);
      if (!shown.empty()) watch.on_text(shown);
    };
  }
  Outcome outcome = inner_.complete(request, own);
  std::string rest;
  for (size_t i = 0; i < keys_.size(); ++i)
    rest = keys_[i].redact(keys_[i].redact_piece(rest, held[i]) + std::exchange(held[i], ""));
  if (watch.on_text && !rest.empty()) watch.on_text(rest);
  for (const Secret& key : keys_) redact(outcome, key);
  return outcome;
}

}  // namespace kw::llm
