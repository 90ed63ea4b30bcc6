// A judge with readers in front of it: what all of them are sure is wrong is not verified, and the
// author is told why. Nothing is accepted here.
#pragma once

#include <map>
#include <string>

#include "evolve/ports.h"
#include "ports/judge.h"

namespace kw::review {

class ReviewedJudge : public ports::JudgeDecorator {
 public:
  /// Borrows both. Only modules that models wrote are read.
  ReviewedJudge(ports::Judge& judge, evolve::Verifier& readers)
      : JudgeDecorator(judge), readers_(readers) {}

  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override;

  /// How likely it is right, 0 to 1; 1 for what was not read.
  double score(const std::string& id) const;

 private:
  /// What the readers refuse; nothing when the judge is to verify it.
  Result<std::optional<ports::Outcome>> refusal(const record::Candidate& candidate);

  evolve::Verifier& readers_;
  std::map<std::string, double> scores_;  // by id
};

}  // namespace kw::review
