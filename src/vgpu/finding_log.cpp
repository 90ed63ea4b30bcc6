#include "vgpu/finding_log.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

bool same_place(const record::Place& a, const record::Place& b) {
  return a.line == b.line && a.file == b.file;
}

// An unrolled loop has many instructions for one line: its reader sees one finding.
bool same_to_the_reader(const record::Finding& a, const record::Finding& b) {
  return a.at.line > 0 && a.kind == b.kind && a.certainty == b.certainty && a.launch == b.launch &&
         a.buffer == b.buffer && same_place(a.at, b.at) &&
         a.other_at.has_value() == b.other_at.has_value() &&
         (!a.other_at || same_place(*a.other_at, *b.other_at));
}

}  // namespace

bool FindingLog::wants(record::FindingKind kind, int launch, uint32_t pc) {
  const auto found = index_.find({kind, launch, pc});
  if (found == index_.end()) return !full();
  ++rows_[found->second].finding.count;
  return false;
}

void FindingLog::add(record::Finding finding, uint32_t pc, uint32_t origin_pc) {
  index_[{finding.kind, finding.launch, pc}] = rows_.size();
  rows_.push_back({std::move(finding), origin_pc});
}

void FindingLog::note_race(int launch, uint32_t pc, uint32_t other_pc) {
  raced_.emplace(launch, pc);
  raced_.emplace(launch, other_pc);
}

void FindingLog::prefer_races() {
  const auto explained = [this](const Row& row) {
    return row.finding.kind == record::FindingKind::UninitialisedUse && row.origin_pc != ~0u &&
           raced_.count({row.finding.launch, row.origin_pc}) != 0;
  };
  rows_.erase(std::remove_if(rows_.begin(), rows_.end(), explained), rows_.end());
  index_.clear();
}

std::vector<record::Finding> FindingLog::take() {
  std::vector<record::Finding> all;
  for (Row& row : rows_) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const record::Finding& other) {
      return same_to_the_reader(other, row.finding);
    });
    if (known == all.end())
      all.push_back(std::move(row.finding));
    else
      known->count += row.finding.count;
  }
  rows_.clear();
  index_.clear();
  return all;
}

}  // namespace kw::vgpu
