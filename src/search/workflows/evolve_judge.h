// The judge for an evolution: times and refusals, and also what limits a kernel and its resources.
// Every examined candidate also enters the archive of the synthesis.
#pragma once

#include <string>
#include <vector>

#include "archive/archive.h"
#include "evolve/evolve_ports.h"
#include "judge/judge.h"
#include "workflows/explaining_judge.h"

namespace kw::workflows {

class EvolveJudge : public ports::JudgeDecorator {
 public:
  /// Borrows all. `evidence`: whether outcomes say what limits a kernel.
  EvolveJudge(judge::LocalJudge& judge, ExplainingJudge& explaining, archive::Archive& archive,
              bool evidence)
      : JudgeDecorator(judge),
        judge_(judge),
        explaining_(explaining),
        archive_(archive),
        evidence_(evidence) {}

  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override;

 private:
  Result<ports::Outcome> screen(const record::Candidate& candidate);
  Result<std::vector<ports::Outcome>> timed(const ports::Candidates& candidates);
  Result<ports::Outcome> judge_model(const record::Candidate& candidate);
  Result<ports::Outcome> estimated(const record::Candidate& candidate);
  void describe(const record::Candidate& candidate, ports::Outcome& seen) const;

  judge::LocalJudge& judge_;
  ExplainingJudge& explaining_;
  archive::Archive& archive_;
  const bool evidence_;
};

}  // namespace kw::workflows
