// A judge with reviewers in front of it: a module that all reviewers are sure is wrong is not
// verified, and its author gets their reasons. Reviewers cannot accept a module.
#pragma once

#include <map>
#include <string>

#include "evolve/evolve_ports.h"
#include "ports/judge.h"

namespace kw::review {

class ReviewedJudge : public ports::JudgeDecorator {
 public:
  /// Borrows both. Only modules written by models are reviewed.
  ReviewedJudge(ports::Judge& judge, evolve::Verifier& reviewers)
      : JudgeDecorator(judge), reviewers_(reviewers) {}

  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override;

  /// The probability that it is right, 0 to 1; 1 if it was not reviewed.
  double score(const std::string& id) const;

 private:
  /// The reviewers' refusal; not set when the judge must verify the candidate.
  Result<std::optional<ports::Outcome>> refusal(const record::Candidate& candidate);

  evolve::Verifier& reviewers_;
  std::map<std::string, double> scores_;  // by id
};

}  // namespace kw::review
