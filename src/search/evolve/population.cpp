// The problem: a search that keeps only the fastest candidates soon has only variants of one idea.
// So candidates are sorted into niches by bound, schedule and resources, and each niche keeps its
// best as a parent (MAP-Elites). Parents are the best candidate in half of the cases, otherwise the
// best of a random niche. Candidates with the same PTX as an earlier one do not count, because they
// would fill the niches. A single ranking would find small gains sooner. The cost: part of the
// proposals goes to families that are slower now. All lists are computed from all entries on each
// call, which is cheap for some thousand entries.
#include "evolve/population.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/check.h"
#include "core/text.h"

namespace kw::evolve {
namespace {

constexpr double kAsFast = 1.002;  // times within this factor count as equal

double between(const Entry& one, const Entry& other) {
  if (!one.fingerprint || !other.fingerprint) return 1;
  return distance(*one.fingerprint, *other.fingerprint);
}

bool on(const Entry& entry, int island) { return island < 0 || entry.islands.count(island) > 0; }

std::string resources_of(double occupancy) {
  if (occupancy < 0) return "unknown";
  return occupancy >= 0.75 ? "light" : occupancy >= 0.4 ? "middle" : "heavy";
}

/// How far a failed candidate came: the further, the more a repair is worth.
int progress_of(const Entry& entry) {
  const std::string& why = entry.outcome.refused;
  if (why.starts_with("wrong") || why.starts_with("unknown")) return 3;
  if (why.find("vgpu") != std::string::npos || why.starts_with("crashed")) return 2;
  return why.find("compile") != std::string::npos ? 1 : 0;
}

}  // namespace

std::string schedule_kind(const record::Candidate& candidate) {
  if (candidate.model.empty() && candidate.origin.find('=') != std::string::npos) {
    std::vector<std::string> kinds;
    for (const std::string& choice : split(candidate.origin, ' ')) {
      const size_t equals = choice.find('=');
      if (equals != std::string::npos) kinds.push_back(choice.substr(equals + 1));
    }
    return join(kinds, "+");
  }
  int launches = 0;
  for (const std::string_view line : split_lines(candidate.text))
    launches += trim(line).starts_with("//! launch");
  std::string kind = fmt::format("{} launches", launches);
  const std::pair<const char*, const char*> marks[] = {
      {"__shared__", "shared"}, {"__shfl", "shuffle"},      {"float4", "vector"},
      {"uint4", "vector"},      {"mma", "tensor"},          {"atomic", "atomic"},
      {"cp.async", "async"},    {"cooperative", "cluster"}, {"alignas(", "vector"}};
  for (const auto& [text, word] : marks) {
    if (candidate.text.find(text) != std::string::npos && kind.find(word) == std::string::npos)
      kind += std::string("+") + word;
  }
  return kind;
}

Niche niche_of(const record::Candidate& candidate, const ports::Outcome& seen) {
  return {seen.bound.empty() ? "unknown" : seen.bound, schedule_kind(candidate),
          resources_of(seen.occupancy)};
}

bool Population::add(record::Candidate candidate, const ProposalRequest& request) {
  const std::string id = candidate.id;
  if (!Entries::add(std::move(candidate))) return false;
  Entry& entry = at(id);
  entry.request = request;
  entry.islands.insert(request.island);
  return true;
}

void Population::add_screening(const std::string& id, ports::Outcome seen, double score,
                               std::optional<CodeFingerprint> fingerprint) {
  Entry* entry = &at(id);
  entry->outcome = std::move(seen);
  entry->outcome.code.clear();
  entry->score = score;
  entry->fingerprint = fingerprint;
  entry->niche = niche_of(entry->candidate, entry->outcome);
  if (!fingerprint) return;
  for (const Entry& other : entries()) {
    if (&other == entry || !other.fingerprint) continue;
    const double far = distance(*fingerprint, *other.fingerprint);
    entry->novelty = std::min(entry->novelty, far);
    if (far == 0 && other.fingerprint->exact == fingerprint->exact && entry->same_as.empty())
      entry->same_as = other.same_as.empty() ? other.candidate.id : other.same_as;
  }
}

void Population::read(const std::string& id, double score, const std::string& refused,
                      const std::string& detail) {
  Entry* entry = &at(id);
  entry->score *= score;
  // If the judge has already decided, its outcome stays.
  if (refused.empty() || entry->judged) return;
  entry->doubted = true;
  entry->outcome.refused = refused;
  entry->outcome.detail = detail;
}

void Population::judged(const std::string& id, const ports::Outcome& seen) {
  Entry* entry = &at(id);
  entry->judged = true;
  entry->outcome.refused = seen.refused;
  entry->outcome.detail = seen.detail;
  if (!seen.refused.empty()) return;
  if (seen.us > 0) {
    entry->outcome.us = seen.us;
    entry->outcome.measured = seen.measured;
    entry->outcome.is_lower_bound = seen.is_lower_bound;
  }
  // Without a verifier, the judge gives this information first.
  if (entry->outcome.bound.empty()) entry->outcome.bound = seen.bound;
  if (entry->outcome.occupancy < 0) entry->outcome.occupancy = seen.occupancy;
  if (entry->outcome.methods == 0) entry->outcome.methods = seen.methods;
  entry->niche = niche_of(entry->candidate, entry->outcome);
}

std::vector<const Entry*> Population::ranked(int island) const {
  return ranked_if([island](const Entry& entry) { return entry.ranked() && on(entry, island); });
}

const Entry* Population::best(int island) const {
  const std::vector<const Entry*> list = ranked(island);
  return list.empty() ? nullptr : list.front();
}

const Entry* Population::simplest_best() const {
  const std::vector<const Entry*> list = ranked();
  if (list.empty()) return nullptr;
  const Entry* chosen = list.front();
  const auto plainness = [](const Entry& entry) {
    return std::pair(entry.outcome.methods, entry.candidate.text.size());
  };
  for (const Entry* entry : list) {
    const bool same_kind = entry->outcome.measured == list.front()->outcome.measured &&
                           entry->outcome.is_lower_bound == list.front()->outcome.is_lower_bound;
    if (!same_kind || entry->outcome.us > kAsFast * list.front()->outcome.us) break;
    if (plainness(*entry) < plainness(*chosen)) chosen = entry;
  }
  return chosen;
}

std::vector<const Entry*> Population::elites(int island) const {
  std::vector<const Entry*> list;
  std::set<Niche> taken;
  for (const Entry* entry : ranked(island)) {
    if (taken.insert(entry->niche).second) list.push_back(entry);
  }
  return list;
}

const Entry* Population::parent(Random& random, int island) const {
  const std::vector<const Entry*> list = elites(island);
  if (list.empty()) return island < 0 ? nullptr : parent(random, -1);
  return random.below(2) == 0 ? list.front() : list[random.below(list.size())];
}

const Entry* Population::partner(const Entry& first, int island) const {
  const Entry* chosen = nullptr;
  double far = -1;
  for (const Entry* entry : elites(island)) {
    if (entry->candidate.id == first.candidate.id) continue;
    const double here = between(first, *entry);
    if (here > far) {
      far = here;
      chosen = entry;
    }
  }
  if (chosen != nullptr) return chosen;
  // With only one niche, take its second best.
  for (const Entry* entry : ranked(island)) {
    if (entry->candidate.id != first.candidate.id) return entry;
  }
  return nullptr;
}

std::vector<const Entry*> Population::top_and_diverse(size_t most, int island) const {
  std::vector<const Entry*> pool = ranked(island), chosen;
  for (bool diverse = false; chosen.size() < most && !pool.empty(); diverse = !diverse) {
    size_t pick = 0;
    double far = -1;
    for (size_t i = 0; diverse && i < pool.size(); ++i) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const Entry* one : chosen) nearest = std::min(nearest, between(*one, *pool[i]));
      if (nearest > far) {
        far = nearest;
        pick = i;
      }
    }
    chosen.push_back(pool[pick]);
    pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  return chosen;
}

const Entry* Population::to_repair(int most, int island) const {
  const Entry* chosen = nullptr;
  for (const Entry& entry : entries()) {
    const bool can = !entry.alive() && !entry.candidate.model.empty() && entry.repairs < most &&
                     on(entry, island);
    if (!can) continue;
    // Among those that came equally far, the last one: it was made with knowledge of the others.
    if (chosen == nullptr || progress_of(entry) >= progress_of(*chosen)) chosen = &entry;
  }
  return chosen;
}

void Population::migrate(int islands) {
  std::vector<std::pair<std::string, int>> moves;
  for (int island = 0; island < islands; ++island) {
    if (const Entry* one = best(island))
      moves.emplace_back(one->candidate.id, (island + 1) % islands);
  }
  for (const auto& [id, island] : moves) find(id)->islands.insert(island);
}

}  // namespace kw::evolve
