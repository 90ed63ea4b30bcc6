// The judge of every search as an evolution sees it: times and refusals, and what a kernel is bound
// by and takes of the chip. Everything looked at is in the race of the synthesis, too.
#pragma once

#include <string>
#include <vector>

#include "evolve/ports.h"
#include "halving/archive.h"
#include "judge/judge.h"
#include "workflows/model_bench.h"

namespace kw::workflows {

class EvolveJudge : public evolve::Judge {
 public:
  /// Borrows all. `evidence`: whether what bounds a kernel is told.
  EvolveJudge(judge::Judge& judge, JudgeBench& bench, halving::Archive& archive, bool evidence)
      : judge_(judge), bench_(bench), archive_(archive), evidence_(evidence) {}

  bool measures() const override { return judge_.measures(); }
  Result<evolve::Seen> screen(const record::Candidate& candidate) override;
  Result<std::vector<evolve::Seen>> judge(
      const std::vector<record::Candidate>& candidates) override;

 private:
  Result<evolve::Seen> judge_model(const record::Candidate& candidate);
  Result<evolve::Seen> estimated(const record::Candidate& candidate);
  void describe(const record::Candidate& candidate, evolve::Seen& seen) const;
  halving::Entry& entry(const record::Candidate& candidate);

  judge::Judge& judge_;
  JudgeBench& bench_;
  halving::Archive& archive_;
  const bool evidence_;
};

}  // namespace kw::workflows
