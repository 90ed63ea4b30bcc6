// Finds the bytes at an address, or reports why there are none.
#pragma once

#include <cstdint>

#include "vgpu/machine.h"

namespace kw::vgpu {

struct Target {
  enum class Kind : uint8_t { None, Global, Shared, Local, Param } kind = Kind::None;
  std::byte* data = nullptr;
  uint64_t offset = 0;  // inside the region or window
  uint32_t region = 0;  // Global: the region number
};

/// Checks bounds, alignment and permission of one lane's access. Returns None and reports a finding
/// when the access is not allowed.
Target resolve(Machine& m, Warp& w, int lane, uint32_t pc, ptx::Space space, uint64_t address,
               uint32_t bytes, bool store);

/// The address that a lane computes for this operation.
uint64_t lane_address(const Warp& w, const MemOp& op, int lane);

}  // namespace kw::vgpu
