// Everything an evolution has tried, sorted into behavioural niches: what bounds a kernel, how it
// is scheduled, how much of the chip it takes. Every niche keeps its best, so that a family that is
// not the fastest today is still there to be a parent. Decides nothing about operators.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/random.h"
#include "evolve/novelty.h"
#include "evolve/ports.h"
#include "record/candidate.h"

namespace kw::evolve {

/// Where a kernel belongs by how it behaves, not by how fast it is.
struct Niche {
  std::string bound;      // "memory", "compute", "latency" or "unknown"
  std::string schedule;   // what kind of kernel
  std::string resources;  // "light", "middle", "heavy" or "unknown": threads an SM has room for
  auto operator<=>(const Niche&) const = default;
  std::string text() const { return bound + "/" + schedule + "/" + resources; }
};

/// The kind of a kernel: of generated ones the schedules that were chosen, of others what their
/// text shows (launches, shared memory, shuffles, vectors, tensor cores).
std::string schedule_kind(const record::Candidate& candidate);
Niche niche_of(const record::Candidate& candidate, const ports::Outcome& seen);

struct Entry {
  record::Candidate candidate;
  Order order;  // that it came of
  ports::Outcome seen;  // `code` is dropped: the print says enough
  Niche niche;
  std::optional<Print> print;
  double novelty = 1;    // distance to the nearest that was there before
  std::string same_as;   // id of one with exactly this code
  double score = 1;      // of the verifiers
  bool judged = false;   // by the gate, and by the clock where there is one
  bool doubted = false;  // refused by readers, and never judged
  std::set<int> islands;
  int repairs = 0;  // tried

  bool alive() const { return seen.refused.empty(); }
  /// In the race: a time or an estimate that counts. What a model wrote counts once it was judged;
  /// generated code is right unless the judge finds otherwise.
  bool ranked() const {
    return alive() && seen.us > 0 && same_as.empty() && (judged || candidate.model.empty());
  }
};

class Archive {
 public:
  /// False when a candidate of this id is known.
  bool add(record::Candidate candidate, const Order& order);
  bool contains(const std::string& id) const { return index_.count(id) > 0; }
  /// nullptr when there is none.
  const Entry* find(const std::string& id) const;
  Entry* find(const std::string& id);
  const std::vector<Entry>& entries() const { return entries_; }

  /// Notes what was seen: niche, print, novelty, whether this very code is known.
  void saw(const std::string& id, ports::Outcome seen, double score, std::optional<Print> print);
  /// What a reader thinks of what was seen.
  void read(const std::string& id, double score, const std::string& refused,
            const std::string& detail);
  /// Notes a judgement over what was seen.
  void judged(const std::string& id, const ports::Outcome& seen);

  /// Those in the race, best first: judged ones of a clock before estimates, lower limits last. An
  /// island of -1 means all of them.
  std::vector<const Entry*> ranked(int island = -1) const;
  const Entry* best(int island = -1) const;
  /// Among those as fast as the best the one with the fewest claims and the shortest text.
  const Entry* simplest_best() const;
  /// The best of every niche, best first.
  std::vector<const Entry*> elites(int island = -1) const;

  /// Somebody to change: the best half of the time, else the elite of some niche. nullptr when
  /// nobody is in the race.
  const Entry* parent(Random& random, int island = -1) const;
  /// Another one, as different from the first as the elites have it. nullptr when there is none.
  const Entry* partner(const Entry& first, int island = -1) const;
  /// At most `most` to show: the best, then by turns the most different from those chosen and the
  /// next best.
  std::vector<const Entry*> top_and_diverse(size_t most, int island = -1) const;
  /// The most promising that failed and whose repair was tried less than `most` times; nullptr when
  /// there is none.
  const Entry* to_repair(int most, int island = -1) const;
  /// Every island's best is shown to the next island.
  void migrate(int islands);

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

}  // namespace kw::evolve
