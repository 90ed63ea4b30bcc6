#include "archive/archive.h"

namespace kw::archive {

Entry& Archive::note(const record::Candidate& candidate, const ports::Outcome& outcome) {
  add(candidate);
  Entry& entry = at(candidate.id);
  entry.outcome.refused = outcome.refused;
  if (!outcome.passed() || outcome.us <= 0) return entry;
  if (!outcome.measured) {
    entry.estimate_us = outcome.us;
    entry.is_lower_bound = outcome.is_lower_bound;
    if (entry.outcome.measured) return entry;
  }
  entry.outcome.us = outcome.us;
  entry.outcome.measured = outcome.measured;
  entry.outcome.is_lower_bound = outcome.is_lower_bound;
  return entry;
}

size_t Archive::refused() const {
  return static_cast<size_t>(
      std::ranges::count_if(entries(), [](const Entry& entry) { return !entry.alive(); }));
}

std::vector<const Entry*> Archive::ranked() const {
  return ranked_if([](const Entry& entry) { return entry.alive() && entry.us() > 0; });
}

const Entry* Archive::best() const {
  const std::vector<const Entry*> all = ranked();
  return all.empty() ? nullptr : all.front();
}

std::vector<const Entry*> Archive::beam(size_t width) const {
  const std::vector<const Entry*> all = ranked();
  const size_t share = std::max<size_t>(1, width / 2);
  std::map<std::string, size_t> taken;
  std::vector<const Entry*> chosen, rest;
  for (const Entry* entry : all) {
    const bool room = chosen.size() < width && taken[entry->candidate.origin] < share;
    if (room) ++taken[entry->candidate.origin];
    (room ? chosen : rest).push_back(entry);
  }
  for (const Entry* entry : rest) {
    if (chosen.size() < width) chosen.push_back(entry);
  }
  return chosen;
}

}  // namespace kw::archive
