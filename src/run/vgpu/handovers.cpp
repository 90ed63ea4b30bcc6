#include "vgpu/handovers.h"

#include <algorithm>

#include <fmt/core.h>

#include "vgpu/ordering.h"
#include "vgpu/report.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxEntries = size_t{1} << 20;  // then writes to new places are not followed
constexpr size_t kMaxSeen = 64;                  // flags per block

uint64_t key_of(uint32_t region, uint64_t offset) { return uint64_t{region} << 40 | offset >> 2; }

}  // namespace

void Handovers::wrote(const Machine& m, const LaneAccess& a, uint32_t region, uint64_t offset) {
  const uint64_t block = m.block->linear;
  const uint32_t thread = a.warp->index * kLanes + static_cast<uint32_t>(a.lane);
  ++writes_;
  for (uint64_t at = offset; at < offset + a.bytes; at += 4) {
    auto found = cells_.find(key_of(region, at));
    if (found == cells_.end()) {
      if (entries_ >= kMaxEntries) return;
      found = cells_.emplace(key_of(region, at), Cell()).first;
    }
    Cell& cell = found->second;
    const bool atomic = a.kind == AccessKind::Atomic;
    // An atomic keeps the earlier writers of the cell; a store replaces them.
    if (!atomic) {
      entries_ -= cell.writers.size();
      cell.writers.clear();
    }
    cell.block = block;
    cell.at = writes_;
    const auto fence = fences_.find(block);
    entries_ +=
        cell.writers
                .insert_or_assign(block, Write{writes_, fence == fences_.end() ? 0 : fence->second,
                                               thread, a.pc, atomic})
                .second
            ? 1
            : 0;
  }
}

void Handovers::fenced(const Machine& m) { fences_[m.block->linear] = writes_; }

void Handovers::read(Machine& m, const LaneAccess& a, uint32_t region, uint64_t offset,
                     bool ordered) {
  const uint64_t key = key_of(region, offset);
  const auto found = cells_.find(key);
  if (found == cells_.end()) return;
  const Cell& cell = found->second;
  std::vector<FlagRead>& seen = seen_[m.block->linear];
  if (a.kind == AccessKind::Read && cell.block != m.block->linear && !ordered) {
    for (const FlagRead& flag : seen) {
      if (flag.key != key) check(m, a, region, offset, cell, flag);
    }
  }
  const auto same = std::ranges::find_if(seen, [&](const FlagRead& s) { return s.key == key; });
  if (same != seen.end())
    same->at = cell.at;
  else if (seen.size() < kMaxSeen)
    seen.push_back({key, cell.at});
}

void Handovers::check(Machine& m, const LaneAccess& a, uint32_t region, uint64_t offset,
                      const Cell& cell, const FlagRead& flag) {
  const Write& data = cell.writers.at(cell.block);
  const auto flags = cells_.find(flag.key);
  if (data.atomic || flags == cells_.end()) return;
  const auto by_writer = flags->second.writers.find(cell.block);
  if (by_writer == flags->second.writers.end()) return;
  const Write& set = by_writer->second;
  // The flag was seen, it is later than the data, and its writer made no fence in between.
  if (set.at > flag.at || set.at <= data.at || set.fenced >= data.at) return;
  const Actor other{cell.block, data.thread, data.pc};
  const Subject subject = region_subject(m, region, static_cast<int64_t>(offset), a.pc);
  report(m, record::FindingKind::GlobalRaceBetweenBlocks, record::Certainty::Warning,
         actor(m, *a.warp, a.lane, a.pc), subject, other, [&] {
           return fmt::format(
               "reads {} after a flag that {} set at line {}, but there is no __threadfence() "
               "between that and its write of line {}: the flag may be seen first",
               subject_text(subject), thread_name(thread_id(m.launch, cell.block, data.thread)),
               place_of(*m.launch.code, set.pc).line, place_of(*m.launch.code, data.pc).line);
         });
}

}  // namespace kw::vgpu
