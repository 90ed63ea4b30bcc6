#include "workflows/evolve_judge.h"

#include <algorithm>

#include "kernel/methods.h"
#include "kernel/parse_module.h"

namespace kw::workflows {
namespace {

/// "memory", "compute" or "latency" for the cost model's bound.
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

void EvolveJudge::describe(const record::Candidate& candidate, ports::Outcome& seen) const {
  seen.methods = claims_of(candidate);
  const timing::Cost* cost = judge_.cost(candidate.id);
  if (cost == nullptr || cost->launches.empty()) return;
  const timing::CostPart& dearest =
      *std::ranges::max_element(cost->launches, {}, &timing::CostPart::us);
  seen.occupancy = dearest.occupancy;
  if (evidence_) seen.bound = side_of(dearest.bound);
}

// One candidate per call, so each gets its registers and estimates can be compared.
Result<ports::Outcome> EvolveJudge::estimated(const record::Candidate& candidate) {
  ports::Outcome seen = KW_TRY(explaining_.examine_one(candidate, ports::Depth::Screen));
  if (!seen.passed()) return seen;
  describe(candidate, seen);
  seen.code = KW_TRY(judge_.code_of(candidate));
  return seen;
}

Result<ports::Outcome> EvolveJudge::screen(const record::Candidate& candidate) {
  if (candidate.model.empty()) return estimated(candidate);
  // The model that wrote it gets the reason of the refusal in detail.
  ports::Outcome trial = KW_TRY(explaining_.examine_one(candidate, ports::Depth::Run));
  if (trial.passed()) return estimated(candidate);
  return trial;
}

Result<ports::Outcome> EvolveJudge::judge_model(const record::Candidate& candidate) {
  ports::Outcome right = KW_TRY(explaining_.examine_one(candidate, ports::Depth::Verify));
  if (!right.passed()) return right;
  ports::Outcome seen = KW_TRY(explaining_.examine_one(candidate, ports::Depth::Time));
  seen.detail.clear();
  describe(candidate, seen);
  return seen;
}

Result<std::vector<ports::Outcome>> EvolveJudge::examine(const ports::Candidates& candidates,
                                                         ports::Depth depth) {
  if (depth == ports::Depth::Time) return timed(candidates);
  if (depth != ports::Depth::Screen) return JudgeDecorator::examine(candidates, depth);
  std::vector<ports::Outcome> out;
  for (const record::Candidate& candidate : candidates) out.push_back(KW_TRY(screen(candidate)));
  return out;
}

Result<std::vector<ports::Outcome>> EvolveJudge::timed(const ports::Candidates& candidates) {
  std::vector<ports::Outcome> out(candidates.size());
  ports::Candidates generated;
  std::vector<size_t> at;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].model.empty()) {
      out[i] = KW_TRY(judge_model(candidates[i]));
    } else if (!has_clock()) {
      out[i] = KW_TRY(estimated(candidates[i]));
    } else {
      // A candidate that was not screened has no entry yet.
      if (!archive_.contains(candidates[i].id)) KW_TRY(estimated(candidates[i]));
      generated.push_back(candidates[i]);
      at.push_back(i);
    }
  }
  if (generated.empty()) return out;
  const std::vector<ports::Outcome> looks = KW_TRY(judge_.examine(generated, ports::Depth::Time));
  for (size_t k = 0; k < at.size(); ++k) {
    archive_.note(generated[k], looks[k]);
    out[at[k]] = looks[k];
    describe(generated[k], out[at[k]]);
  }
  return out;
}

}  // namespace kw::workflows
