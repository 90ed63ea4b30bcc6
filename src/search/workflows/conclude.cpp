// The step that decides whether the synthesis passed. Without a winner it says why.
#include <fmt/core.h>

#include <algorithm>

#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

/// The last refusal is the reason, if there is one.
void blame_candidates(Session& session) {
  const std::vector<halving::Entry>& entries = session.archive.entries();
  for (const halving::Entry& entry : entries) {
    if (!entry.alive())
      session.report.failure_reason = fmt::format("none of {} candidates passed; the last: {}",
                                                  entries.size(), entry.outcome.refused);
  }
}

/// Whether a model is the reason.
bool blame_models(Session& session) {
  if (!session.models) return false;
  const ModelWork& work = *session.models;
  SynthesisReport& report = session.report;
  if (work.provider && !work.history && session.request.proposer == "llm") {
    report.failed_stage = "interview";
    report.failure_reason = work.provider->error().message;
  } else if (!work.why_not.empty()) {
    // No author wrote a right kernel: the failed stage says more than the number of candidates.
    const stages::StageOutcome* failed = work.history->failed();
    if (failed != nullptr) report.failed_stage = stages::stage_name(failed->stage);
    report.failure_reason = work.why_not;
  } else {
    return false;
  }
  if (work.provider) report.error_blame = static_cast<int>(work.provider->blame());
  return true;
}

void explain_evolution(Session& session) {
  const EvolveWork& work = *session.evolution;
  SynthesisReport& report = session.report;
  report.failed_stage = "evolve";
  report.failure_reason = work.stopped;
  if (session.models && session.models->provider) {
    report.error_blame = static_cast<int>(session.models->provider->blame());
    return;
  }
  const std::vector<std::string>& unusable = work.proposer->unusable();
  if (session.archive.entries().empty() && !unusable.empty())
    report.failure_reason = fmt::format("{}, and none of {} answers could be used; the last: {}",
                                        work.stopped, unusable.size(), unusable.back());
  blame_candidates(session);
  const auto doubted = std::ranges::count_if(work.state.archive().entries(),
                                             [](const evolve::Entry& one) { return one.doubted; });
  if (doubted > 0)
    report.failure_reason += fmt::format(
        "; {} were never judged, because reviewers refused them (--verifier-reject)", doubted);
}

}  // namespace

// A search without a winner is a result, not an Error.
Status conclude(Session& session) {
  SynthesisReport& report = session.report;
  if (!session.outcome || has_failed(session)) return Done{};
  report.passed = session.outcome->winner.has_value();
  if (report.passed) return Done{};
  report.failed_stage = "certify";
  report.failure_reason = "no candidate was produced";
  if (session.request.evolve)
    explain_evolution(session);
  else if (!blame_models(session))
    blame_candidates(session);
  return Done{};
}

}  // namespace kw::workflows
