// The archive of an evolution, with its candidates sorted into niches: what bounds a kernel, how it
// is scheduled, how much of the GPU it uses. Each niche keeps its best candidate as a possible
// parent, even when that is not the fastest today.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "core/random.h"
#include "evolve/evolve_ports.h"
#include "evolve/novelty.h"
#include "record/candidate.h"

namespace kw::evolve {

/// The class of a kernel by its behaviour, not by its speed.
struct Niche {
  std::string bound;      // "memory", "compute", "latency" or "unknown"
  std::string schedule;   // the kind of kernel
  std::string resources;  // by occupancy: "light", "middle", "heavy" or "unknown"
  auto operator<=>(const Niche&) const = default;
  std::string text() const { return bound + "/" + schedule + "/" + resources; }
};

/// The kind of a kernel. For generated ones: the chosen schedules. For others: what their text
/// shows (launches, shared memory, shuffles, vectors, tensor cores).
std::string schedule_kind(const record::Candidate& candidate);
Niche niche_of(const record::Candidate& candidate, const ports::Outcome& seen);

/// The `code` of an outcome is dropped: the fingerprint is enough.
struct Entry : archive::Entry {
  ProposalRequest request;  // that the candidate answers
  Niche niche;
  std::optional<CodeFingerprint> fingerprint;
  double novelty = 1;    // distance to the nearest earlier candidate
  std::string same_as;   // id of a candidate with exactly this code
  double score = 1;      // of the verifiers
  bool judged = false;   // by the gate, and by the clock if there is one
  bool doubted = false;  // refused by reviewers and not judged
  std::set<int> islands;
  int repairs = 0;  // attempts to repair it

  /// Whether its time or estimate counts. A model's candidate counts only after the judge has seen
  /// it; generated code counts until it is refused.
  bool ranked() const {
    return alive() && us() > 0 && same_as.empty() && (judged || candidate.model.empty());
  }
};

class Population : public archive::Entries<Entry> {
 public:
  /// False when the archive already has a candidate with this id.
  bool add(record::Candidate candidate, const ProposalRequest& request);

  /// Records what a verifier saw: niche, fingerprint, novelty, and whether the same code is known.
  void add_screening(const std::string& id, ports::Outcome seen, double score,
                     std::optional<CodeFingerprint> fingerprint);
  /// Records the opinion of a reviewer.
  void read(const std::string& id, double score, const std::string& refused,
            const std::string& detail);
  /// Records the outcome of the judge, which replaces what was seen before.
  void judged(const std::string& id, const ports::Outcome& seen);

  /// The candidates that count, best first: measured ones, then estimates, then lower limits.
  /// Island -1 means all islands.
  std::vector<const Entry*> ranked(int island = -1) const;
  const Entry* best(int island = -1) const;
  /// Among those as fast as the best: the one with the fewest methods, then the shortest text.
  const Entry* simplest_best() const;
  /// The best of every niche, best first.
  std::vector<const Entry*> elites(int island = -1) const;

  /// A parent to change: in half of the cases the best, otherwise the best of a random niche.
  /// nullptr when no candidate counts.
  const Entry* parent(Random& random, int island = -1) const;
  /// The elite that differs most from `first`. Without another niche: the next best. nullptr when
  /// there is none.
  const Entry* partner(const Entry& first, int island = -1) const;
  /// At most `most` candidates to show: the best, then in turn the most different from those chosen
  /// and the next best.
  std::vector<const Entry*> top_and_diverse(size_t most, int island = -1) const;
  /// The failed candidate of a model that passed the most stages and has fewer than `most` repairs.
  /// nullptr when there is none.
  const Entry* to_repair(int most, int island = -1) const;
  /// Adds the best of each island to the next island.
  void migrate(int islands);
};

}  // namespace kw::evolve
