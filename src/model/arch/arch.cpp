#include "arch/arch.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/text.h"

namespace kw::arch {

namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;

// The comment at the end of each row names the board that default_sms and default_l2_bytes
// describe.
constexpr std::array kTargets = {
    Target{"sm_75", 7, 5, false, 40, 4 * kMiB, 48 * kKiB, 64 * kKiB, 64 * kKiB, 65536, 1024,
           16},  // T4
    Target{"sm_80", 8, 0, false, 108, 40 * kMiB, 48 * kKiB, 163 * kKiB, 164 * kKiB, 65536, 2048,
           32},  // A100
    Target{"sm_86", 8, 6, false, 82, 6 * kMiB, 48 * kKiB, 99 * kKiB, 100 * kKiB, 65536, 1536,
           16},  // RTX 3090
    Target{"sm_87", 8, 7, false, 16, 4 * kMiB, 48 * kKiB, 163 * kKiB, 164 * kKiB, 65536, 1536,
           16},  // AGX Orin
    Target{"sm_89", 8, 9, false, 128, 72 * kMiB, 48 * kKiB, 99 * kKiB, 100 * kKiB, 65536, 1536,
           24},  // RTX 4090
    Target{"sm_90", 9, 0, false, 132, 60 * kMiB, 48 * kKiB, 227 * kKiB, 228 * kKiB, 65536, 2048,
           32},  // H200
    Target{"sm_90a", 9, 0, true, 132, 60 * kMiB, 48 * kKiB, 227 * kKiB, 228 * kKiB, 65536, 2048,
           32},
    Target{"sm_100", 10, 0, false, 148, 126 * kMiB, 48 * kKiB, 227 * kKiB, 228 * kKiB, 65536, 2048,
           32},  // B200
    Target{"sm_100a", 10, 0, true, 148, 126 * kMiB, 48 * kKiB, 227 * kKiB, 228 * kKiB, 65536, 2048,
           32},
    Target{"sm_103", 10, 3, false, 148, 126 * kMiB, 48 * kKiB, 227 * kKiB, 228 * kKiB, 65536, 2048,
           32},  // B300
    Target{"sm_103a", 10, 3, true, 148, 126 * kMiB, 48 * kKiB, 227 * kKiB, 228 * kKiB, 65536, 2048,
           32},
    Target{"sm_120", 12, 0, false, 170, 96 * kMiB, 48 * kKiB, 99 * kKiB, 100 * kKiB, 65536, 1536,
           24},  // RTX 5090
    Target{"sm_120a", 12, 0, true, 170, 96 * kMiB, 48 * kKiB, 99 * kKiB, 100 * kKiB, 65536, 1536,
           24},
};

constexpr int kSubPartitions = 4;
constexpr int64_t kRegistersPerWarpUnit = 256;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Registers are allocated per warp in units of 256, from the quarter of the register file that
// belongs to the warp's scheduler.
int64_t blocks_by_registers(const Target& target, int64_t warps, int registers_per_thread) {
  if (registers_per_thread <= 0) return target.blocks_per_sm;
  const int64_t per_warp =
      round_up(int64_t{registers_per_thread} * kWarpSize, kRegistersPerWarpUnit);
  const int64_t warps_per_sm = target.registers_per_sm / kSubPartitions / per_warp * kSubPartitions;
  return warps_per_sm / warps;
}

// From 8.0 on, the system reserves 1 KiB of shared memory per resident block.
int64_t blocks_by_shared(const Target& target, int64_t shared_bytes) {
  const bool ampere_or_newer = target.major >= 8;
  const int64_t reserved = ampere_or_newer ? kKiB : 0;
  const int64_t per_block = round_up(shared_bytes + reserved, ampere_or_newer ? 128 : 256);
  return per_block == 0 ? target.blocks_per_sm : target.shared_per_sm / per_block;
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

Result<Target> find_target(std::string_view name) {
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if (name == target.name) return target;
    names.emplace_back(target.name);
  }
  return input_error("unknown target '" + std::string(name) + "'" + did_you_mean(name, names) +
                     "; known: " + join(names, ", "));
}

Occupancy occupancy(const Target& target, int threads_per_block, int registers_per_thread,
                    int64_t shared_bytes) {
  Occupancy found;
  found.limiter = "launch";
  if (threads_per_block < 1 || threads_per_block > kMaxThreadsPerBlock) return found;
  if (registers_per_thread > kRegistersPerThread) return found;
  if (shared_bytes < 0 || shared_bytes > target.shared_per_block_optin) return found;
  const int64_t warps = (threads_per_block + kWarpSize - 1) / kWarpSize;
  found.by_blocks = target.blocks_per_sm;
  found.by_threads = static_cast<int>(target.threads_per_sm / (warps * kWarpSize));
  found.by_registers = static_cast<int>(blocks_by_registers(target, warps, registers_per_thread));
  found.by_shared = static_cast<int>(blocks_by_shared(target, shared_bytes));
  const std::pair<int, const char*> limits[] = {{found.by_threads, "threads"},
                                                {found.by_blocks, "blocks"},
                                                {found.by_registers, "registers"},
                                                {found.by_shared, "shared"}};
  const auto least = std::ranges::min_element(limits, [](const auto& a, const auto& b) {
    return a.first < b.first;
  });  // the first of equal limits
  found.blocks = least->first;
  found.limiter = least->second;
  found.share = static_cast<double>(found.blocks * warps * kWarpSize) / target.threads_per_sm;
  return found;
}

int resident_blocks(const Target& target, int threads_per_block, int registers_per_thread,
                    int64_t shared_bytes) {
  return occupancy(target, threads_per_block, registers_per_thread, shared_bytes).blocks;
}

}  // namespace kw::arch
