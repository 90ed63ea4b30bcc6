// The limits of each compute capability, one row per target. They come from the tables of the CUDA
// programming guide.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.h"

namespace kw::arch {

struct Target {
  const char* name;  // "sm_90a"
  int major, minor;  // 9, 0
  bool specific;     // an 'a' target: its code runs only on this chip
  int default_sms;   // of the common board; the virtual GPU uses it when no device is given
  int64_t default_l2_bytes;
  int64_t shared_per_block;        // without opt-in
  int64_t shared_per_block_optin;  // SMEM_MAX
  int64_t shared_per_sm;
  int64_t registers_per_sm;
  int threads_per_sm;
  int blocks_per_sm;
};

/// All targets, oldest first: sm_75 … sm_120, including sm_90a, sm_100a and sm_120a.
std::span<const Target> targets();
/// Finds a target such as "sm_90". The Error lists the known targets.
Result<Target> find_target(std::string_view name);

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int64_t kMaxGridX = 2147483647;
inline constexpr int64_t kMaxGridYZ = 65535;
inline constexpr int kRegistersPerThread = 255;

/// The number of blocks of one shape that an SM holds at once, and the limit that stops the next
/// one.
struct Occupancy {
  int blocks = 0;                                                      // least of the four limits
  int by_blocks = 0, by_threads = 0, by_registers = 0, by_shared = 0;  // each limit alone
  double share = 0;                                                    // of the SM's warps
  const char* limiter =
      "";  // "blocks", "threads", "registers", "shared"; "launch": no SM holds one
};
/// A number of registers below 1 means unknown and sets no limit.
Occupancy occupancy(const Target& target, int threads_per_block, int registers_per_thread,
                    int64_t shared_bytes);

/// The number of blocks of this shape that one SM holds at once; 0 when not even one fits.
int resident_blocks(const Target& target, int threads_per_block, int registers_per_thread,
                    int64_t shared_bytes);

}  // namespace kw::arch
