// What each compute capability can do: one row per target. Limits come from the CUDA programming
// guide's tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace kw::arch {

struct Target {
  const char* name;  // "sm_90a"
  int major, minor;  // 9, 0
  bool specific;     // an 'a' target: code runs on exactly this chip
  int default_sms;   // of the common board; the virtual GPU's SMS when no device says otherwise
  int64_t default_l2_bytes;
  int64_t shared_per_block;        // without opt-in
  int64_t shared_per_block_optin;  // SMEM_MAX
  int64_t shared_per_sm;
  int64_t registers_per_sm;
  int threads_per_sm;
  int blocks_per_sm;
};

/// All targets, oldest first: sm_75 … sm_120, with sm_90a, sm_100a, sm_120a.
std::span<const Target> targets();
/// Finds "sm_90"; the error lists what exists.
Result<Target> find_target(std::string_view name);

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int64_t kMaxGridX = 2147483647;
inline constexpr int64_t kMaxGridYZ = 65535;
inline constexpr int kRegistersPerThread = 255;

/// How many blocks of one shape an SM holds at once, and what stops the next one.
struct Occupancy {
  int blocks = 0;                                                      // the least of the four
  int by_blocks = 0, by_threads = 0, by_registers = 0, by_shared = 0;  // each limit alone
  double share = 0;                                                    // of the SM's warps
  const char* limiter =
      "";  // "blocks", "threads", "registers", "shared"; "launch": no SM holds one
};
/// Registers below 1 are unknown and do not limit.
Occupancy occupancy(const Target& target, int threads_per_block, int registers_per_thread,
                    int64_t shared_bytes);

/// How many blocks of this shape one SM holds at once; 0 when not even one fits.
int resident_blocks(const Target& target, int threads_per_block, int registers_per_thread,
                    int64_t shared_bytes);

}  // namespace kw::arch
