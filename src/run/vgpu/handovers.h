// Notices data that one block hands to another by volatile or relaxed stores and a flag, without a
// fence between the two: each access alone is no race, but nothing orders the data before the flag.
// Only for kernels that store so to global memory; plain data is judged by the stamps.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/races.h"

namespace kw::vgpu {

class Handovers {
 public:
  /// A strong store, or the writing half of an atomic, by the running block.
  void wrote(const Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset);
  /// A strong load, or the reading half of an atomic: whose flags the running block has seen, and
  /// whether what it loads came without a fence before such a flag. Reports the latter, unless
  /// other releases have `ordered` that write before this load.
  void read(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset, bool ordered);
  /// The running block made a device-wide fence.
  void fenced(const Machine& m);

 private:
  struct Write {
    uint64_t at = 0;      // number among all strong writes
    uint64_t fenced = 0;  // writes of that block up to this one lie before a fence of its own
    uint32_t thread = 0, pc = 0;
    bool atomic = false;
  };
  struct Cell {
    uint64_t block = 0;  // that wrote last
    uint64_t at = 0;
    std::unordered_map<uint64_t, Write> writers;  // block -> its last write
  };
  struct Seen {
    uint64_t key = 0;
    uint64_t at = 0;  // the cell's last write then
  };

  void check(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset,
             const Cell& cell, const Seen& flag);

  std::unordered_map<uint64_t, Cell> cells_;
  std::unordered_map<uint64_t, std::vector<Seen>> seen_;  // by block
  std::unordered_map<uint64_t, uint64_t> fences_;         // block -> writes before its last fence
  uint64_t writes_ = 0;
  size_t entries_ = 0;
};

}  // namespace kw::vgpu
