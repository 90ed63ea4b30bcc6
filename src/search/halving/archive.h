// Everything a search has tried, with what is known of each: the memory that proposers learn from
// and that a later session starts with. Holds no verdicts; those are the evaluator's.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "record/candidate.h"

namespace kw::halving {

/// One candidate and how far it came.
struct Entry {
  record::Candidate candidate;
  double estimate_us = 0;  // by the cost model; 0: not screened
  bool at_least = false;   // the estimate is only a lower limit: counting was given up
  double measured_us = 0;  // on a clock, after the gate; 0: not measured
  bool certified = false;
  std::string refused;  // why it is out; "" while it is in the race

  bool alive() const { return refused.empty(); }
  /// Measured if it was, else estimated.
  double us() const { return measured_us > 0 ? measured_us : estimate_us; }
};

class Archive {
 public:
  /// False when a candidate of this id is known already.
  bool add(record::Candidate candidate);
  bool contains(const std::string& id) const { return index_.count(id) > 0; }
  Entry& at(const std::string& id);
  const Entry& at(const std::string& id) const;
  /// In the order of adding.
  const std::vector<Entry>& entries() const { return entries_; }
  size_t refused() const;

  /// Those in the race, best first: measured ones by their times, then the others by their
  /// estimates, those with a lower limit alone at the end; ties in the order of adding.
  std::vector<const Entry*> ranked() const;
  /// The first of these, nullptr when there is none.
  const Entry* best() const;
  /// The best of the race, at most `width`, and of one origin at most half of them while others are
  /// left: parents for what comes next.
  std::vector<const Entry*> beam(size_t width) const;

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

}  // namespace kw::halving
