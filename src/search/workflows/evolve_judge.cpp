#include "workflows/evolve_judge.h"

#include <algorithm>

#include "kernel/methods.h"
#include "kernel/parse.h"

namespace kw::workflows {
namespace {

/// "memory", "compute" or "latency", of what the cost model calls it.
std::string side_of(const std::string& bound) {
  if (bound == "memory" || bound == "l2" || bound == "shared memory") return "memory";
  if (bound == "compute" || bound == "issue" || bound == "pipe") return "compute";
  return "latency";
}

int64_t claims_of(const record::Candidate& candidate) {
  const kernel::ParseOutcome parsed = kernel::parse(candidate.text, "module.cu");
  if (!parsed.module) return 0;
  std::map<std::string, int64_t> tunes = candidate.tunes;
  if (tunes.empty()) {
    const auto defaults = kernel::default_tunes(*parsed.module);
    if (defaults) tunes = *defaults;
  }
  return static_cast<int64_t>(kernel::active_methods(*parsed.module, tunes).size());
}

}  // namespace

halving::Entry& EvolveJudge::entry(const record::Candidate& candidate) {
  archive_.add(candidate);
  return archive_.at(candidate.id);
}

void EvolveJudge::describe(const record::Candidate& candidate, evolve::Seen& seen) const {
  seen.methods = claims_of(candidate);
  const timing::Cost* cost = judge_.cost(candidate.id);
  if (cost == nullptr || cost->launches.empty()) return;
  const timing::CostPart& dearest =
      *std::ranges::max_element(cost->launches, {}, &timing::CostPart::us);
  seen.occupancy = dearest.occupancy;
  if (evidence_) seen.bound = side_of(dearest.bound);
}

// One by one, so that registers are known of all and estimates can be compared.
Result<evolve::Seen> EvolveJudge::estimated(const record::Candidate& candidate) {
  const ports::Look look = KW_TRY(judge_.screen({candidate})).front();
  halving::Entry& known = entry(candidate);
  known.refused = look.refused;
  known.estimate_us = look.us;
  known.at_least = look.at_least;
  evolve::Seen seen;
  seen.us = look.us;
  seen.at_least = look.at_least;
  seen.refused = look.refused;
  if (!look.refused.empty()) return seen;
  describe(candidate, seen);
  seen.code = KW_TRY(judge_.code_of(candidate));
  return seen;
}

Result<evolve::Seen> EvolveJudge::screen(const record::Candidate& candidate) {
  if (candidate.model.empty()) return estimated(candidate);
  // Whoever wrote it will be told more than that it was refused.
  const stages::Look trial = KW_TRY(bench_.run(candidate));
  if (trial.ok) return estimated(candidate);
  evolve::Seen seen;
  seen.refused = trial.reason;
  seen.detail = trial.text;
  return seen;
}

Result<evolve::Seen> EvolveJudge::judge_model(const record::Candidate& candidate) {
  evolve::Seen seen;
  const stages::Look right = KW_TRY(bench_.verify(candidate));
  seen.refused = right.reason;
  seen.detail = right.ok ? "" : right.text;
  if (!right.ok) return seen;
  const stages::Look timed = KW_TRY(bench_.time(candidate));
  seen.refused = timed.reason;
  seen.us = timed.us;
  seen.measured = timed.measured;
  seen.at_least = archive_.at(candidate.id).at_least;
  describe(candidate, seen);
  return seen;
}

Result<std::vector<evolve::Seen>> EvolveJudge::judge(
    const std::vector<record::Candidate>& candidates) {
  std::vector<evolve::Seen> out(candidates.size());
  ports::Candidates generated;
  std::vector<size_t> at;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].model.empty()) {
      out[i] = KW_TRY(judge_model(candidates[i]));
    } else if (!measures()) {
      out[i] = KW_TRY(estimated(candidates[i]));
    } else {
      // What nobody looked at before has no entry yet.
      if (!archive_.contains(candidates[i].id)) KW_TRY(estimated(candidates[i]));
      generated.push_back(candidates[i]);
      at.push_back(i);
    }
  }
  if (generated.empty()) return out;
  const std::vector<ports::Look> looks = KW_TRY(judge_.measure(generated));
  for (size_t k = 0; k < at.size(); ++k) {
    halving::Entry& known = entry(generated[k]);
    known.refused = looks[k].refused;
    known.measured_us = looks[k].us;
    evolve::Seen& seen = out[at[k]];
    seen.us = looks[k].us;
    seen.refused = looks[k].refused;
    seen.measured = looks[k].refused.empty();
    describe(generated[k], seen);
  }
  return out;
}

}  // namespace kw::workflows
