#include "llm/degrade.h"

#include "llm/fenced.h"

namespace kw::llm {
namespace {

void drop_marks(Request& request) {
  for (SystemBlock& block : request.system) block.cache = Cache::No;
  for (Message& message : request.messages) message.cache = Cache::No;
}

}  // namespace

Capabilities Degrading::capabilities() const {
  Capabilities capabilities = inner_.capabilities();
  capabilities.tools = true;
  return capabilities;
}

Outcome Degrading::complete(const Request& request, const Watch& watch) {
  const Capabilities can = inner_.capabilities();
  std::vector<std::string> notes;
  Request changed = request;
  const bool fenced = !request.tools.empty() && !can.tools;
  if (fenced) {
    // Checked here, because the changed conversation has no calls to check.
    if (const auto fine = check_request(request); !fine) {
      Failure failure;
      failure.kind = FailureKind::BadRequest;
      failure.message = fine.error().message;
      return failure;
    }
    changed = without_tools(request);
    notes.push_back("tools: not supported; written and read as fenced text");
  }
  if (has_cache_marks(request) && can.caching != Caching::Marks) {
    drop_marks(changed);
    notes.push_back(can.caching == Caching::Automatic
                        ? "prompt_caching: the provider chooses what to cache; cache marks are "
                          "not sent"
                        : "prompt_caching: not supported");
  }
  if (request.reasoning.asked() && !can.reasoning) {
    changed.reasoning = {};
    notes.push_back("reasoning: not supported");
  }
  Outcome outcome = inner_.complete(changed, watch);
  if (!outcome) return outcome;
  if (fenced) read_fenced_calls(request, *outcome);
  outcome->degraded.insert(outcome->degraded.begin(), notes.begin(), notes.end());
  return outcome;
}

}  // namespace kw::llm
