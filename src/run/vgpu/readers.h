// All readers of units of memory, for kernels that order some threads without the others: by
// fences, named barriers or __syncwarp() of some lanes. Elsewhere two readers of a unit suffice:
// what orders both before a write orders all.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "vgpu/stamps.h"

namespace kw::vgpu {

struct Machine;
struct MemoryRegion;

/// Lanes of one warp that read a unit at one time.
struct Readers {
  uint64_t stamp = 0;  // of lane 0 of the warp, with the instruction of the first read
  uint32_t lanes = 0;
  uint32_t next = 0;  // index; 0: the last
};

/// A list is named by a word beside the unit: 0, or what add() made of it.
class ReaderLists {
 public:
  /// `lane_shift`: place of the lane in a stamp. `warp_of`: a number for the warp of a stamp.
  ReaderLists(int lane_shift, std::function<uint64_t(uint64_t)> warp_of)
      : lane_shift_(lane_shift), warp_of_(std::move(warp_of)) {}

  /// `stamp`: of any lane of the warp.
  void add(uint64_t& list, uint64_t stamp, uint32_t lanes) {
    stamp &= ~(uint64_t{31} << lane_shift_);
    Readers& head = nodes_[static_cast<uint32_t>(list)];
    if (list != 0 && same_group(head.stamp, stamp))
      head.lanes |= lanes;
    else
      push(list, stamp, lanes);
  }
  /// Takes back the memory of a list that is no longer used.
  void drop(uint64_t list);
  uint64_t copy(uint64_t list);
  /// Forgets all lists.
  void clear();

  /// Calls `visit` with the stamp of each reader until it returns true. Returns that stamp, or 0.
  template <class Visit>
  uint64_t find(uint64_t list, const Visit& visit) const {
    for (uint32_t at = static_cast<uint32_t>(list); at != 0; at = nodes_[at].next) {
      for (uint32_t rest = nodes_[at].lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<uint64_t>(__builtin_ctz(rest));
        const uint64_t stamp = nodes_[at].stamp | lane << lane_shift_;
        if (visit(stamp)) return stamp;
      }
    }
    return 0;
  }

 private:
  /// Same time, warp and strength.
  bool same_group(uint64_t a, uint64_t b) const {
    static_assert(shared_stamp::kStrong == global_stamp::kStrong);
    return (a ^ b) >> lane_shift_ == 0 && ((a ^ b) & shared_stamp::kStrong) == 0;
  }
  void push(uint64_t& list, uint64_t stamp, uint32_t lanes);
  uint32_t prune(uint32_t head);

  int lane_shift_;
  std::function<uint64_t(uint64_t)> warp_of_;
  std::vector<Readers> nodes_ = std::vector<Readers>(1);  // index 0 is not used
  uint32_t free_ = 0;                                     // unused nodes, linked by `next`
};

/// Neighbouring units of shared memory that lanes of a warp read at once.
struct ReadRun {
  uint64_t stamp = 0;  // of the first lane
  uint32_t unit = 0;
  uint16_t units = 0;
  uint8_t together = 1;  // lanes that read each place
  uint8_t per_lane = 0;  // each lane covers 2^per_lane units
};

/// Who read what in shared memory since the last barrier of the whole block. Most kernels never
/// ask, so runs of units are only noted; they become lists when a write must know all readers.
class SharedReaders {
 public:
  void note(const ReadRun& run) {
    if (runs_.size() >= kMostRuns) make_lists();
    runs_.push_back(run);
  }
  /// As ReaderLists::find, for a unit.
  template <class Visit>
  uint64_t find(uint32_t unit, const Visit& visit) {
    make_lists();
    return unit < heads_.size() ? lists_.find(heads_[unit], visit) : 0;
  }
  void forget(uint32_t unit);
  void clear() {
    runs_.clear();
    if (!listed_.empty()) clear_lists();
  }

 private:
  static constexpr size_t kMostRuns = size_t{1} << 16;
  void make_lists();
  void clear_lists();

  std::vector<ReadRun> runs_;
  ReaderLists lists_{26, shared_stamp::warp};
  std::vector<uint64_t> heads_;   // by unit
  std::vector<uint32_t> listed_;  // units whose head is not 0
};

/// Notes that a lane of the running block read a unit of global memory.
void note_reader(Machine& m, MemoryRegion& region, uint64_t unit, uint64_t stamp);
/// Gives each unit its own list, after one unit became 2^factor_log2.
void separate_lists(Machine& m, MemoryRegion& region, int factor_log2);

}  // namespace kw::vgpu
