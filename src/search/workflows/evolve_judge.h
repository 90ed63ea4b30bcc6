// The judge of every search as an evolution sees it: times and refusals, and what a kernel is bound
// by and takes of the chip. Everything looked at is in the race of the synthesis, too.
#pragma once

#include <string>
#include <vector>

#include "engine/judge.h"
#include "engine/model_bench.h"
#include "evolve/ports.h"
#include "search/archive.h"

namespace kw::engine {

class EvolveJudge : public evolve::Judge {
 public:
  /// Borrows all. `evidence`: whether what bounds a kernel is told.
  EvolveJudge(engine::Judge& judge, JudgeBench& bench, search::Archive& archive, bool evidence)
      : judge_(judge), bench_(bench), archive_(archive), evidence_(evidence) {}

  bool measures() const override { return judge_.measures(); }
  Result<evolve::Seen> screen(const record::Candidate& candidate) override;
  Result<std::vector<evolve::Seen>> judge(
      const std::vector<record::Candidate>& candidates) override;

 private:
  Result<evolve::Seen> judge_model(const record::Candidate& candidate);
  Result<evolve::Seen> estimated(const record::Candidate& candidate);
  void describe(const record::Candidate& candidate, evolve::Seen& seen) const;
  search::Entry& entry(const record::Candidate& candidate);

  engine::Judge& judge_;
  JudgeBench& bench_;
  search::Archive& archive_;
  const bool evidence_;
};

}  // namespace kw::engine
