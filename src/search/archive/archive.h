// Every candidate a search has tried, with its outcome so far. Proposers learn from it, and a later
// session starts with it. A search that needs more about each candidate extends the entry
// (evolve/population.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ports/judge.h"
#include "record/candidate.h"

namespace kw::archive {

/// One candidate and its results so far.
struct Entry {
  record::Candidate candidate;
  ports::Outcome outcome;       // a measured time replaces an estimate, never the reverse
  double estimate_us = 0;       // estimated by the cost model; 0: not screened
  bool is_lower_bound = false;  // the estimate is only a lower limit: the counting was cut off
  bool certified = false;

  bool alive() const { return outcome.passed(); }
  /// The measured time; if there is none, the estimate.
  double us() const { return outcome.us; }
  /// By the clock, after the gate; 0: not measured.
  double measured_us() const { return outcome.measured ? outcome.us : 0; }
};

/// Entries by id and in the order of adding.
template <class E>
class Entries {
 public:
  /// False when there is already a candidate with this id.
  bool add(record::Candidate candidate) {
    if (!index_.emplace(candidate.id, entries_.size()).second) return false;
    entries_.emplace_back().candidate = std::move(candidate);
    return true;
  }
  bool contains(const std::string& id) const { return index_.count(id) > 0; }
  /// nullptr when the id is unknown.
  const E* find(const std::string& id) const {
    const auto found = index_.find(id);
    return found == index_.end() ? nullptr : &entries_[found->second];
  }
  E* find(const std::string& id) { return const_cast<E*>(constant().find(id)); }
  const E& at(const std::string& id) const {
    const E* entry = find(id);
    KW_CHECK(entry != nullptr, "only candidates of the archive are asked for");
    return *entry;
  }
  E& at(const std::string& id) { return const_cast<E&>(constant().at(id)); }
  const std::vector<E>& entries() const { return entries_; }

 protected:
  /// The entries that count, best first. Measured ones come first, by time; then the others by
  /// estimate; then those with only a lower limit. Measured times and estimates are not comparable.
  /// Ties keep the order of adding.
  template <class Counts>
  std::vector<const E*> ranked_if(const Counts& counts) const {
    std::vector<const E*> list;
    for (const E& entry : entries_) {
      if (counts(entry)) list.push_back(&entry);
    }
    const auto key = [](const E* entry) {
      const ports::Outcome& seen = entry->outcome;
      return std::tuple(!seen.measured, seen.is_lower_bound, seen.us, entry);
    };
    std::sort(list.begin(), list.end(), [&](const E* a, const E* b) { return key(a) < key(b); });
    return list;
  }

 private:
  const Entries& constant() const { return *this; }

  std::vector<E> entries_;
  std::map<std::string, size_t> index_;
};

class Archive : public Entries<Entry> {
 public:
  /// Adds the candidate if it is new, and its outcome. A refusal keeps earlier times. A time of 0
  /// changes none.
  Entry& note(const record::Candidate& candidate, const ports::Outcome& outcome);
  size_t refused() const;

  /// The candidates that are not refused and have a time or an estimate, best first.
  std::vector<const Entry*> ranked() const;
  /// The first of ranked(); nullptr when it is empty.
  const Entry* best() const;
  /// The best `width` candidates of ranked(), as parents for new ones. One origin gets at most half
  /// of the places while candidates of other origins are left.
  std::vector<const Entry*> beam(size_t width) const;
};

}  // namespace kw::archive
