#include "review/read_bench.h"

namespace kw::review {

// A module that is looked at again has its opinions already.
Result<stages::Look> ReadBench::verify(const record::Candidate& candidate) {
  const bool new_to_us = !candidate.model.empty() && scores_.count(candidate.id) == 0;
  if (!new_to_us) return bench_.verify(candidate);
  evolve::Vote vote = KW_TRY(readers_.vote(candidate));
  for (const evolve::Reading& reading : KW_TRY(readers_.opinions())) {
    vote.score *= reading.score;
    vote.seen.refused = reading.refused;
    vote.seen.detail = reading.detail;
  }
  scores_[candidate.id] = vote.score;
  if (vote.seen.refused.empty()) return bench_.verify(candidate);
  stages::Look look;
  look.reason = vote.seen.refused;
  look.text = vote.seen.refused + "\n" + vote.seen.detail;
  return look;
}

double ReadBench::score(const std::string& id) const {
  const auto known = scores_.find(id);
  return known == scores_.end() ? 1 : known->second;
}

}  // namespace kw::review
