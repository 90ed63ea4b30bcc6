#include "review/reviewed_judge.h"

namespace kw::review {

// A candidate that was reviewed before is not reviewed again.
Result<std::optional<ports::Outcome>> ReviewedJudge::refusal(const record::Candidate& candidate) {
  if (candidate.model.empty() || scores_.count(candidate.id) > 0)
    return std::optional<ports::Outcome>();
  evolve::Vote vote = KW_TRY(reviewers_.vote(candidate));
  for (const evolve::Review& review : KW_TRY(reviewers_.opinions())) {
    vote.score *= review.score;
    vote.seen.refused = review.refused;
    vote.seen.detail = review.detail;
  }
  scores_[candidate.id] = vote.score;
  if (vote.seen.passed()) return std::optional<ports::Outcome>();
  ports::Outcome out = ports::Outcome::refusal(vote.seen.refused);
  out.detail = vote.seen.refused + "\n" + vote.seen.detail;
  return std::optional(out);
}

Result<std::vector<ports::Outcome>> ReviewedJudge::examine(const ports::Candidates& candidates,
                                                           ports::Depth depth) {
  if (depth != ports::Depth::Verify) return JudgeDecorator::examine(candidates, depth);
  std::vector<ports::Outcome> out;
  for (const record::Candidate& candidate : candidates) {
    const std::optional<ports::Outcome> refused = KW_TRY(refusal(candidate));
    out.push_back(refused ? *refused : KW_TRY(JudgeDecorator::examine({candidate}, depth)).front());
  }
  return out;
}

double ReviewedJudge::score(const std::string& id) const {
  const auto known = scores_.find(id);
  return known == scores_.end() ? 1 : known->second;
}

}  // namespace kw::review
