// Exact stamp checks of one lane's access to shared or global memory. They find undefined content
// and conflicts with other threads that no barrier, fence or collective orders. They update the
// stamps and report conflicts.
#pragma once

#include <cstdint>

#include "vgpu/machine.h"

namespace kw::vgpu {

enum class AccessKind : uint8_t { Read, Write, Atomic };

/// One lane's access as the checks see it.
struct LaneAccess {
  Warp* warp = nullptr;
  int lane = 0;
  uint32_t pc = 0;
  AccessKind kind = AccessKind::Read;
  bool strong = false;                 // volatile, relaxed and so on; atomics always are
  const std::byte* value = nullptr;    // the bytes that a write is about to store
  const std::byte* present = nullptr;  // the bytes that memory holds now
  uint32_t bytes = 0;
  MemoryScope scope = MemoryScope::Device;
  bool cached = false;     // a read that may find its value in the cache of its SM
  bool read_only = false;  // a read through a cache that is never told of writes
};

/// True when the access reads a byte that is undefined or was never written in this block.
bool check_shared(Machine& m, const LaneAccess& access, uint32_t offset);
/// True when the access reads a byte that is undefined or was never written in this program.
bool check_global(Machine& m, const LaneAccess& access, uint32_t region, uint64_t offset);

}  // namespace kw::vgpu
