// Finds data that one block passes to another by volatile or relaxed stores and a flag, without a
// fence between the two. Each access alone is not a race, but nothing orders the data before the
// flag. Used only for kernels with such stores to global memory; stamps check plain data.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/races.h"

namespace kw::vgpu {

class Handovers {
 public:
  /// Notes a strong store, or the write of an atomic, by the running block.
  void wrote(const Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset);
  /// Notes a strong load, or the read of an atomic: the running block has now seen that flag.
  /// Reports data that its writer stored without a fence before a flag already seen. Does not
  /// report when other releases have `ordered` that write before this load.
  void read(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset, bool ordered);
  /// Notes a device-wide fence of the running block.
  void fenced(const Machine& m);

 private:
  struct Write {
    uint64_t at = 0;      // number among all strong writes
    uint64_t fenced = 0;  // this block's writes up to this number are before a fence of its own
    uint32_t thread = 0, pc = 0;
    bool atomic = false;
  };
  struct Cell {
    uint64_t block = 0;  // the last writer
    uint64_t at = 0;
    std::unordered_map<uint64_t, Write> writers;  // block -> its last write
  };
  struct FlagRead {
    uint64_t key = 0;
    uint64_t at = 0;  // number of the cell's last write at that time
  };

  void check(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset,
             const Cell& cell, const FlagRead& flag);

  std::unordered_map<uint64_t, Cell> cells_;
  std::unordered_map<uint64_t, std::vector<FlagRead>> seen_;  // by block
  std::unordered_map<uint64_t, uint64_t> fences_;  // block -> writes before its last fence
  uint64_t writes_ = 0;
  size_t entries_ = 0;
};

}  // namespace kw::vgpu
