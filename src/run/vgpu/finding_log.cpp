#include "vgpu/finding_log.h"

#include <algorithm>

namespace kw::vgpu {
namespace {

bool same_place(const record::Place& a, const record::Place& b) {
  return a.line == b.line && a.file == b.file;
}

// An unrolled loop has many instructions for one line. The user gets one finding for them.
bool same_to_the_reader(const record::Finding& a, const record::Finding& b) {
  return a.at.line > 0 && a.kind == b.kind && a.certainty == b.certainty && a.launch == b.launch &&
         a.buffer == b.buffer && same_place(a.at, b.at) &&
         a.other_at.has_value() == b.other_at.has_value() &&
         (!a.other_at || same_place(*a.other_at, *b.other_at));
}

bool same_buffer(const record::Finding& a, const record::Finding& b) {
  return a.launch == b.launch && a.buffer == b.buffer;
}

// Either of two racing accesses may be the one that runs second.
bool same_two_lines(const record::Finding& a, const record::Finding& b) {
  if (!a.other_at || !b.other_at || a.at.line == 0) return false;
  return (same_place(a.at, b.at) && same_place(*a.other_at, *b.other_at)) ||
         (same_place(a.at, *b.other_at) && same_place(*a.other_at, b.at));
}

// A missing barrier causes races inside warps too, and those are found first. The barrier fixes
// both. So races of lanes are dropped when warps race by the same two lines, otherwise listed after
// the warps.
void tell_of_warps_first(std::vector<record::Finding>& all) {
  using record::FindingKind;
  std::vector<record::Finding> told, later;
  for (const record::Finding& finding : all) {
    const auto is_of_warps = [&](const record::Finding& other) {
      return other.kind == FindingKind::SharedRace && same_buffer(other, finding);
    };
    if (finding.kind != FindingKind::MissingSyncwarp || std::ranges::none_of(all, is_of_warps)) {
      told.push_back(finding);
    } else if (std::ranges::none_of(all, [&](const record::Finding& other) {
                 return is_of_warps(other) && same_two_lines(other, finding);
               })) {
      later.push_back(finding);
    }
  }
  told.insert(told.end(), later.begin(), later.end());
  all = std::move(told);
}

}  // namespace

bool FindingLog::should_add(record::FindingKind kind, record::Certainty certainty, int launch,
                            uint32_t pc) {
  const auto found = index_.find({kind, launch, pc});
  if (found == index_.end()) return !full();
  record::Finding& known = rows_[found->second].finding;
  ++known.count;
  return certainty == record::Certainty::Certain && known.certainty == record::Certainty::Warning;
}

void FindingLog::add(record::Finding finding, uint32_t pc, uint32_t origin_pc) {
  const auto [place, is_new] = index_.try_emplace({finding.kind, finding.launch, pc}, rows_.size());
  if (is_new) {
    rows_.push_back({std::move(finding), origin_pc});
    return;
  }
  finding.count = rows_[place->second].finding.count;
  rows_[place->second] = {std::move(finding), origin_pc};
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
    const auto known = std::ranges::find_if(
        all, [&](const record::Finding& other) { return same_to_the_reader(other, row.finding); });
    if (known == all.end())
      all.push_back(std::move(row.finding));
    else
      known->count += row.finding.count;
  }
  rows_.clear();
  index_.clear();
  tell_of_warps_first(all);
  return all;
}

}  // namespace kw::vgpu
