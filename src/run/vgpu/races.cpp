// Exact race checks on stamps. Each unit of memory has the stamps of its last writer, of its first
// reader and, if several read it, of one more. Two readers suffice where a barrier orders all
// threads or none. Kernels that order some threads without the others have lists of all readers
// (readers.h). Two accesses race
// when they are unordered, at least one writes, and they are not both strong. A store of the value
// that is already there by the same instruction is accepted, since flags are often set so. In a
// kernel with synchronisation between blocks, a global race may be only suspected; then it is a
// warning.
#include "vgpu/races.h"

#include <cstring>

#include <fmt/core.h>

#include "vgpu/handovers.h"
#include "vgpu/ordering.h"
#include "vgpu/pool.h"
#include "vgpu/readers.h"
#include "vgpu/report.h"

namespace kw::vgpu {
namespace {

const char* verb(AccessKind kind) {
  return kind == AccessKind::Read    ? "reads"
         : kind == AccessKind::Write ? "writes"
                                     : "updates atomically";
}
const char* past(bool read, bool atomic) {
  return read ? "read" : atomic ? "updated atomically" : "wrote";
}

struct Conflict {
  Actor other;
  bool other_read = false;
  bool other_atomic = false;
};

// The same instruction stores the value that is already there: harmless, and common for flags.
bool same_value(const LaneAccess& a, uint32_t other_pc) {
  return a.kind == AccessKind::Write && a.pc == other_pc && a.value != nullptr &&
         std::memcmp(a.value, a.present, a.bytes) == 0;
}

std::string race_sentence(Machine& m, const LaneAccess& a, const Subject& subject,
                          const Conflict& c, const char* missing) {
  const record::ThreadId id = thread_id(m.launch, c.other.block, c.other.thread);
  const record::Place at = place_of(*m.launch.code, c.other.pc);
  return fmt::format("{} {}, which {} {} at line {} with {}", verb(a.kind), subject_text(subject),
                     thread_name(id), past(c.other_read, c.other_atomic), at.line, missing);
}

void report_shared(Machine& m, const LaneAccess& a, uint32_t offset, uint64_t stamp, bool read,
                   bool lost = false) {
  namespace st = shared_stamp;
  const Conflict c{{m.block->linear, st::thread(stamp), st::pc(stamp)},
                   read,
                   !read && (stamp & st::kAtomic) != 0};
  const bool suspicion = lost || seen_by(m, *a.warp, a.lane, static_cast<uint32_t>(c.other.block),
                                         st::thread(stamp), st::time(stamp));
  const Certainty certainty = suspicion ? Certainty::Warning : Certainty::Certain;
  const bool same_warp = c.other.thread / kLanes == a.warp->index;
  const bool same_instruction = c.other.pc == a.pc && a.kind == AccessKind::Write;
  const FindingKind kind =
      same_warp && !same_instruction ? FindingKind::MissingSyncwarp : FindingKind::SharedRace;
  const Actor who = actor(m, *a.warp, a.lane, a.pc);
  const Subject subject = shared_subject(m, offset, a.pc);
  m.log.note_race(m.launch.launch_index, a.pc, c.other.pc);
  report(m, kind, certainty, who, subject, c.other, [&] {
    return race_sentence(m, a, subject, c,
                         same_warp ? "no __syncwarp() in between" : "no barrier in between");
  });
}

// Whether the earlier access in `stamp` is unordered with this one. The caller has excluded two
// reads and two strong accesses.
bool shared_conflict(const Block& block, const LaneAccess& a, uint64_t stamp) {
  namespace st = shared_stamp;
  if (st::time(stamp) < block.start_time) return false;
  const uint32_t me = a.warp->index * kLanes + static_cast<uint32_t>(a.lane);
  if (st::thread(stamp) == me) return false;
  return !ordered_in_block(block, *a.warp, a.lane, st::thread(stamp), st::time(stamp));
}

void note_shared_read(Block& block, const LaneAccess& a, uint32_t unit, uint64_t mine) {
  namespace st = shared_stamp;
  if (block.readers != nullptr) block.readers->note({mine, unit, 1, 1, 0});
  uint64_t& first = block.shared_reads[unit];
  const bool current =
      st::time(first) >= block.start_time &&
      !ordered_in_block(block, *a.warp, a.lane, st::thread(first), st::time(first));
  const bool same_interval = st::time(first) >= block.barrier_time && first != 0;
  if (!same_interval ||
      (!current && st::warp(first) == a.warp->index && (first & st::kManyWarps) == 0)) {
    first = mine;
  } else if ((first & st::kManyWarps) == 0 && st::warp(first) != a.warp->index) {
    block.shared_readers[unit] = mine;
    first |= st::kManyWarps;
  } else if ((first & st::kManyWarps) == 0 && st::thread(first) != st::thread(mine)) {
    block.shared_readers[unit] = mine;
    first |= st::kManyLanes;
  }
  if ((mine & st::kStrong) == 0) first &= ~st::kStrong;  // one weak reader makes the group weak
}

// Strong accesses do not race with each other. But volatile does not make lanes of one warp run in
// lock-step, unless something is released through this place: then it is a flag that they poll.
bool both_strong(const Machine& m, const LaneAccess& a, bool strong, uint64_t stamp,
                 uint32_t offset) {
  namespace st = shared_stamp;
  if (!strong || (stamp & st::kStrong) == 0) return false;
  const bool same_warp = st::warp(stamp) == a.warp->index;
  return !same_warp || a.kind == AccessKind::Atomic || (stamp & st::kAtomic) != 0 ||
         flag_at(m, offset, true) != nullptr;
}

// Two volatile or relaxed stores of different values. CUDA does not call that a race, but one of
// the values is lost, and so is an update that was read before.
bool overwrites(const LaneAccess& a, bool strong, bool other_strong, bool other_atomic) {
  return strong && other_strong && !other_atomic && a.kind == AccessKind::Write &&
         a.value != nullptr && std::memcmp(a.value, a.present, a.bytes) != 0;
}

// The copy in the background that may still write this unit, or null.
const PendingCopy* pending_copy(const Machine& m, uint64_t written, uint32_t at) {
  namespace st = shared_stamp;
  if ((written & st::kSpecial) == 0 || m.code[st::pc(written)].op != Op::AsyncCopy) return nullptr;
  const auto& block = static_cast<const ResidentBlock&>(*m.block);
  for (const PendingCopy& copy : block.async[st::warp(written)].pending) {
    if (at >= copy.shared && at < copy.shared + copy.bytes) return &copy;
  }
  return nullptr;
}

// A copy is ordered with nothing, not even with its own thread, before that thread waits for it.
// Where a barrier is missing too, that is reported: it must be mended first.
bool touches_pending_copy(Machine& m, const LaneAccess& a, uint64_t written, uint32_t at) {
  const PendingCopy* copy = pending_copy(m, written, at);
  if (copy == nullptr || shared_conflict(*m.block, a, written)) return false;
  const Conflict c{{m.block->linear, shared_stamp::thread(written), copy->pc}, false, false};
  const Subject subject = shared_subject(m, at, a.pc);
  m.log.note_race(m.launch.launch_index, a.pc, a.pc);
  report(
      m, FindingKind::MissingCopyWait, Certainty::Certain, actor(m, *a.warp, a.lane, a.pc), subject,
      c.other, [&] {
        return fmt::format(
            "{} {}, to which the cp.async of {} at line {} may still be writing: that thread has "
            "not waited for it",
            verb(a.kind), subject_text(subject),
            thread_name(thread_id(m.launch, c.other.block, c.other.thread)),
            place_of(*m.launch.code, copy->pc).line);
      });
  return true;
}

// The stamp of a reader of this unit that races with this write, or 0. One of another warp comes
// first: the barrier that it needs mends a race inside the warp too.
uint64_t conflicting_reader(const Machine& m, const LaneAccess& a, uint32_t unit, uint32_t offset,
                            bool strong) {
  namespace st = shared_stamp;
  const Block& block = *m.block;
  const uint64_t read = block.shared_reads[unit];
  const bool many = (read & (st::kManyLanes | st::kManyWarps)) != 0;
  const uint64_t another = block.shared_readers[unit];
  const auto conflicts = [&](uint64_t stamp) {
    return !both_strong(m, a, strong, stamp, offset) && shared_conflict(block, a, stamp);
  };
  const auto of_other_warp = [&](uint64_t stamp) {
    return st::warp(stamp) != a.warp->index && conflicts(stamp);
  };
  if (block.ordered_in_parts && block.readers != nullptr) {
    const uint64_t other = block.readers->find(unit, of_other_warp);
    return other != 0 ? other : block.readers->find(unit, conflicts);
  }
  if (many && of_other_warp(another)) return another;
  if (conflicts(read)) return read;
  return many && conflicts(another) ? another : 0;
}

void check_shared_write(Machine& m, const LaneAccess& a, uint32_t unit, uint32_t offset,
                        bool strong) {
  namespace st = shared_stamp;
  Block& block = *m.block;
  const uint64_t written = block.shared_writes[unit];
  if (!both_strong(m, a, strong, written, offset) && shared_conflict(block, a, written) &&
      !same_value(a, st::pc(written)))
    report_shared(m, a, offset, written, false);
  else if (overwrites(a, strong, (written & st::kStrong) != 0, (written & st::kAtomic) != 0) &&
           shared_conflict(block, a, written) && !flag_is_read(m, offset, true))
    report_shared(m, a, offset, written, false, true);
  const uint64_t read = block.shared_reads[unit];
  if (st::time(read) < block.start_time || read == 0) return;
  if (const uint64_t other = conflicting_reader(m, a, unit, offset, strong); other != 0)
    report_shared(m, a, offset, other, true);
}

// The stamp of a reader of this unit in this launch for which `test` holds, or 0.
template <class Test>
uint64_t find_reader(const Machine& m, const MemoryRegion& region, uint64_t unit,
                     const Test& test) {
  namespace st = global_stamp;
  const uint64_t read = region.reads[unit];
  if (st::segment(read) < m.launch_segment) return 0;
  const bool many = (read & st::kSpread) != 0;
  if (m.reader_lists != nullptr && many) return m.reader_lists->find(region.readers[unit], test);
  if (test(read)) return read;
  return many && test(region.readers[unit]) ? region.readers[unit] : 0;
}

// Whether this block has read the unit before it was written, and has made no fence since then. So
// the cache of its SM may still hold the old value, although the thread has seen the flag.
bool may_be_stale(const Machine& m, const LaneAccess& a, uint32_t number, uint64_t offset) {
  namespace st = global_stamp;
  const MemoryRegion& region = m.memory.row(number);
  const uint64_t unit = offset >> region.unit_log2;
  if (a.kind != AccessKind::Read || !a.cached || region.reads == nullptr ||
      (region.reads[unit] & st::kPast) == 0)
    return false;
  const auto& block = static_cast<const ResidentBlock&>(*m.block);
  return find_reader(m, region, unit, [&](uint64_t stamp) {
           const Segment& then = m.segments[st::segment(stamp) - m.launch_segment];
           return then.block == block.linear && then.time >= block.refresh_time;
         }) != 0;
}

void report_global(Machine& m, const LaneAccess& a, uint32_t region, uint64_t offset,
                   uint64_t stamp, bool read, bool lost = false) {
  namespace st = global_stamp;
  const Segment& segment_info = m.segments[st::segment(stamp) - m.launch_segment];
  const Conflict c{
      {segment_info.block, st::thread(stamp), st::pc(stamp)}, read, (stamp & st::kAtomic) != 0};
  const bool same_block = segment_info.block == m.block->linear;
  const bool too_narrow =
      a.scope == MemoryScope::Block || (!read && (stamp & st::kBlockScope) != 0);
  const bool suspicion = lost || (!too_narrow && seen_by(m, *a.warp, a.lane, segment_info.block,
                                                         st::thread(stamp), segment_info.time));
  const bool stale = suspicion && !same_block && may_be_stale(m, a, region, offset);
  const char* missing = stale ? "no fence after the flag: the cache may hold what this block read "
                                "before"
                        : same_block ? "no barrier in between"
                                     : "nothing to order the two blocks";
  const Subject subject = region_subject(m, region, static_cast<int64_t>(offset), a.pc);
  m.log.note_race(m.launch.launch_index, a.pc, c.other.pc);
  report(m, same_block ? FindingKind::GlobalRaceInBlock : FindingKind::GlobalRaceBetweenBlocks,
         suspicion && !stale ? Certainty::Warning : Certainty::Certain,
         actor(m, *a.warp, a.lane, a.pc), subject, c.other,
         [&] { return race_sentence(m, a, subject, c, missing); });
}

// A load through the read-only cache of what this launch wrote: no barrier or fence mends that.
void report_stale(Machine& m, const LaneAccess& a, uint32_t region, uint64_t offset,
                  uint64_t written) {
  namespace st = global_stamp;
  const Segment& segment = m.segments[st::segment(written) - m.launch_segment];
  const Actor other{segment.block, st::thread(written), st::pc(written)};
  const Subject subject = region_subject(m, region, static_cast<int64_t>(offset), a.pc);
  m.log.note_race(m.launch.launch_index, a.pc, other.pc);
  report(m, FindingKind::StaleReadOnlyLoad, Certainty::Certain, actor(m, *a.warp, a.lane, a.pc),
         subject, other, [&] {
           return fmt::format(
               "reads {} through the read-only cache, but {} wrote it in this launch at line {}",
               subject_text(subject), thread_name(thread_id(m.launch, other.block, other.thread)),
               place_of(*m.launch.code, other.pc).line);
         });
}

bool global_ordered(const Machine& m, const LaneAccess& a, uint64_t stamp) {
  namespace st = global_stamp;
  const uint32_t number = st::segment(stamp);
  if (number < m.launch_segment) return true;
  const Segment& other = m.segments[number - m.launch_segment];
  if (other.block != m.block->linear)
    return ordered_between_blocks(m, *a.warp, a.lane, number, st::thread(stamp));
  const uint32_t me = a.warp->index * kLanes + static_cast<uint32_t>(a.lane);
  return st::thread(stamp) == me ||
         ordered_in_block(*m.block, *a.warp, a.lane, st::thread(stamp), other.time);
}

// Whether some other warp of this block, or another block, may not be ordered after this access
// yet.
bool unordered_for_some(const Machine& m, const LaneAccess& a, uint64_t stamp) {
  namespace st = global_stamp;
  const uint32_t number = st::segment(stamp);
  if (number < m.launch_segment) return false;
  const Segment& other = m.segments[number - m.launch_segment];
  if (other.block != m.block->linear) return !global_ordered(m, a, stamp);
  return other.time >= m.block->barrier_time;
}

void note_global_read(Machine& m, const LaneAccess& a, MemoryRegion& region, uint64_t unit,
                      uint64_t mine) {
  namespace st = global_stamp;
  if (m.reader_lists != nullptr) {
    note_reader(m, region, unit, mine);
    return;
  }
  uint64_t& first = region.reads[unit];
  const uint64_t weak = mine & st::kStrong;
  const uint32_t number = st::segment(first);
  const bool past = number < m.launch_segment ||
                    (global_ordered(m, a, first) &&
                     ((first & st::kSpread) == 0 || global_ordered(m, a, region.readers[unit])));
  if (past) {
    first = mine;
    return;
  }
  const Segment& other = m.segments[number - m.launch_segment];
  const uint64_t spread = first & st::kSpread;
  uint64_t wanted = spread;
  if (other.block != m.block->linear)
    wanted = st::kManyBlocks;
  else if (st::warp(first) != a.warp->index)
    wanted = std::max<uint64_t>(spread, st::kManyWarps);
  else if (st::thread(first) != st::thread(mine))
    wanted = std::max<uint64_t>(spread, st::kManyLanes);
  if (wanted > spread) {
    region.readers[unit] = mine;
    first = (first & ~st::kSpread) | wanted;
  }
  if (weak == 0) first &= ~st::kStrong;
}

// Strong accesses do not race with each other, unless the scope of one is only its own block.
bool both_strong(const Machine& m, const LaneAccess& a, bool strong, uint64_t written) {
  namespace st = global_stamp;
  if (!strong || (written & st::kStrong) == 0) return false;
  if (a.scope == MemoryScope::Device && (written & st::kBlockScope) == 0) return true;
  const uint32_t number = st::segment(written);
  return number < m.launch_segment ||
         m.segments[number - m.launch_segment].block == m.block->linear;
}

// Whether the thread read this unit in the line that now writes it, and another block's write of
// the same instruction is in no order with that: one of the two updates can be lost.
bool loses_update(const Machine& m, const LaneAccess& a, const MemoryRegion& region, uint64_t unit,
                  uint64_t written) {
  namespace st = global_stamp;
  if (st::pc(written) != a.pc || region.reads == nullptr) return false;
  const uint32_t me = a.warp->index * kLanes + static_cast<uint32_t>(a.lane);
  const auto own = [&](uint64_t stamp) {
    const uint32_t number = st::segment(stamp);
    return number >= m.launch_segment && st::thread(stamp) == me &&
           m.segments[number - m.launch_segment].block == m.block->linear &&
           place_of(*m.launch.code, st::pc(stamp)).line == place_of(*m.launch.code, a.pc).line;
  };
  return find_reader(m, region, unit, own) != 0;
}

void check_global_write(Machine& m, const LaneAccess& a, uint32_t number, uint64_t unit,
                        uint64_t offset, bool strong) {
  namespace st = global_stamp;
  MemoryRegion& region = m.memory.row(number);
  const uint64_t written = region.writes[unit];
  if (written != 0 && !both_strong(m, a, strong, written) && !global_ordered(m, a, written) &&
      !same_value(a, st::pc(written)))
    report_global(m, a, number, offset, written, false);
  else if (written != 0 &&
           overwrites(a, strong, (written & st::kStrong) != 0, (written & st::kAtomic) != 0) &&
           !global_ordered(m, a, written) && !flag_is_read(m, region.base + offset, false))
    report_global(m, a, number, offset, written, false, !loses_update(m, a, region, unit, written));
  if (region.reads == nullptr || region.reads[unit] == 0) return;
  uint64_t& read = region.reads[unit];
  if ((read & st::kPast) != 0) return;
  if (m.reader_lists == nullptr && strong && (read & st::kStrong) != 0) return;
  const uint64_t other = find_reader(m, region, unit, [&](uint64_t stamp) {
    return !(strong && (stamp & st::kStrong) != 0) && !global_ordered(m, a, stamp);
  });
  if (other != 0) report_global(m, a, number, offset, other, true);
  // What is ordered after this write is ordered after these reads.
  if (m.reader_lists != nullptr && !strong) read |= st::kPast;
}

void note_handover(Machine& m, const LaneAccess& a, uint32_t number, uint64_t offset) {
  const MemoryRegion& region = m.memory.row(number);
  const uint64_t written = region.writes != nullptr ? region.writes[offset >> region.unit_log2] : 0;
  const bool ordered = written == 0 || global_ordered(m, a, written);
  if (a.kind != AccessKind::Write) m.handovers->read(m, a, number, offset, ordered);
  if (a.kind != AccessKind::Read) m.handovers->wrote(m, a, number, offset);
}

}  // namespace

bool check_shared(Machine& m, const LaneAccess& a, uint32_t offset) {
  namespace st = shared_stamp;
  Block& block = *m.block;
  block.dirty = true;
  const bool strong = a.strong || a.kind == AccessKind::Atomic;
  const uint64_t mine =
      st::make(block.time, a.warp->index * kLanes + static_cast<uint32_t>(a.lane), a.pc,
               (strong ? st::kStrong : 0) | (a.kind == AccessKind::Atomic ? st::kAtomic : 0));
  const uint32_t first = offset >> block.unit_log2, count = a.bytes >> block.unit_log2;
  bool undefined = false;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    const uint64_t written = block.shared_writes[unit];
    const uint32_t at = unit << block.unit_log2;
    const bool never = st::time(written) < block.start_time;
    if (a.kind != AccessKind::Write)
      undefined = undefined || never || (written & st::kSpecial) != 0;
    const bool copying = !never && touches_pending_copy(m, a, written, at);
    if (a.kind == AccessKind::Read) {
      if (!never && !copying && !both_strong(m, a, strong, written, at) &&
          shared_conflict(block, a, written))
        report_shared(m, a, at, written, false);
      note_shared_read(block, a, unit, mine);
    } else {
      if (!copying) check_shared_write(m, a, unit, at, strong);
      // A plain write stays recorded through later atomics of its interval: they race with it, not
      // with each other.
      const bool keep = strong && !never && (written & st::kStrong) == 0 &&
                        st::time(written) >= block.barrier_time;
      block.shared_writes[unit] = keep ? written & ~st::kSpecial : mine;
    }
  }
  return undefined;
}

bool check_global(Machine& m, const LaneAccess& a, uint32_t number, uint64_t offset) {
  namespace st = global_stamp;
  MemoryRegion& region = m.memory.row(number);
  Block& block = *m.block;
  if (block.segment == 0) open_segment(m);
  block.dirty = true;
  const bool strong = a.strong || a.kind == AccessKind::Atomic;
  if (strong && m.handovers != nullptr) note_handover(m, a, number, offset);
  int unit_log2 = 0;
  while ((2u << unit_log2) <= a.bytes && unit_log2 < 4) ++unit_log2;
  if (region.unit_log2 > unit_log2) {
    const int factor = region.unit_log2 - unit_log2;
    m.memory.refine(region, unit_log2);
    if (m.reader_lists != nullptr) separate_lists(m, region, factor);
  }
  if (a.kind == AccessKind::Read) m.memory.ensure_reads(region);
  if (a.kind != AccessKind::Read) m.memory.ensure_writes(region);
  const uint64_t mine =
      st::make(block.segment, a.warp->index * kLanes + static_cast<uint32_t>(a.lane), a.pc,
               strong ? st::kStrong : 0);
  const bool narrow = strong && a.kind != AccessKind::Read && a.scope == MemoryScope::Block;
  const uint64_t flags =
      (narrow ? st::kBlockScope : 0) | (a.kind == AccessKind::Atomic ? st::kAtomic : 0);
  const uint64_t first = offset >> region.unit_log2, count = a.bytes >> region.unit_log2;
  bool undefined = false;
  for (uint64_t unit = first; unit < first + count; ++unit) {
    const uint64_t written = region.writes != nullptr ? region.writes[unit] : 0;
    const uint64_t at = unit << region.unit_log2;
    if (a.kind != AccessKind::Write)
      undefined = undefined || (written == 0 && !region.defined) || (written & st::kUndefined) != 0;
    if (a.kind == AccessKind::Read) {
      if (written != 0 && !both_strong(m, a, strong, written) && !global_ordered(m, a, written))
        report_global(m, a, number, at, written, false);
      else if (a.read_only && st::segment(written) >= m.launch_segment)
        report_stale(m, a, number, at, written);
      note_global_read(m, a, region, unit, mine);
    } else {
      check_global_write(m, a, number, unit, at, strong);
      const bool keep = strong && (written & st::kStrong) == 0 && unordered_for_some(m, a, written);
      region.writes[unit] = keep ? written & ~st::kUndefined : mine | flags;
    }
  }
  return undefined;
}

}  // namespace kw::vgpu
