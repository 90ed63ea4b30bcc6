// Every candidate a search has tried, with its times and its reason for refusal. Proposers learn
// from it, and a later session starts with it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "record/candidate.h"

namespace kw::halving {

/// One candidate and its results so far.
struct Entry {
  record::Candidate candidate;
  double estimate_us = 0;       // estimated by the cost model; 0: not screened
  bool is_lower_bound = false;  // the estimate is only a lower limit: the counting was cut off
  double measured_us = 0;       // by the clock, after the gate; 0: not measured
  bool certified = false;
  std::string refused;  // why the judge refused it; "": not refused

  bool alive() const { return refused.empty(); }
  /// The measured time; if there is none, the estimate.
  double us() const { return measured_us > 0 ? measured_us : estimate_us; }
};

class Archive {
 public:
  /// False when the archive already has a candidate with this id.
  bool add(record::Candidate candidate);
  bool contains(const std::string& id) const { return index_.count(id) > 0; }
  Entry& at(const std::string& id);
  const Entry& at(const std::string& id) const;
  /// In the order of adding.
  const std::vector<Entry>& entries() const { return entries_; }
  size_t refused() const;

  /// The candidates that are not refused, best first. Measured ones come first, by time; then the
  /// others by estimate; then those with only a lower limit. Ties keep the order of adding.
  std::vector<const Entry*> ranked() const;
  /// The first of ranked(); nullptr when it is empty.
  const Entry* best() const;
  /// The best `width` candidates of ranked(), as parents for new ones. One origin gets at most half
  /// of the places while candidates of other origins are left.
  std::vector<const Entry*> beam(size_t width) const;

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

}  // namespace kw::halving
