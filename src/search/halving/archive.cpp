#include "halving/archive.h"

#include <algorithm>

#include "core/check.h"

namespace kw::halving {

bool Archive::add(record::Candidate candidate) {
  const auto [at, added] = index_.emplace(candidate.id, entries_.size());
  if (!added) return false;
  Entry entry;
  entry.candidate = std::move(candidate);
  entries_.push_back(std::move(entry));
  return true;
}

const Entry& Archive::at(const std::string& id) const {
  const auto found = index_.find(id);
  KW_CHECK(found != index_.end(), "only candidates of the archive are asked for");
  return entries_[found->second];
}

Entry& Archive::at(const std::string& id) {
  return const_cast<Entry&>(std::as_const(*this).at(id));
}

size_t Archive::refused() const {
  return static_cast<size_t>(
      std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.alive(); }));
}

std::vector<const Entry*> Archive::ranked() const {
  std::vector<const Entry*> alive;
  for (const Entry& entry : entries_) {
    if (entry.alive() && entry.us() > 0) alive.push_back(&entry);
  }
  // A measured time always ranks before an estimate: the two are not comparable.
  std::ranges::stable_sort(alive, [](const Entry* a, const Entry* b) {
    const bool a_timed = a->measured_us > 0, b_timed = b->measured_us > 0;
    if (a_timed != b_timed) return a_timed;
    if (!a_timed && a->is_lower_bound != b->is_lower_bound) return b->is_lower_bound;
    return a->us() < b->us();
  });
  return alive;
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

}  // namespace kw::halving
