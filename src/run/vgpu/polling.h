// Detects warps and blocks that wait for others by polling memory. The scheduler decides which
// block runs next, and when none can change anything any more.
#pragma once

#include <cstdint>

#include "vgpu/pool.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// In one of the interrupted orders, warps that wait repeat their polls so often in all.
inline constexpr uint64_t kPatience = uint64_t{1} << 17;

/// What a strong load or a failed atomic saw. `data`: the one place that all lanes polled, or null
/// when they polled several.
struct PolledValue {
  uint32_t pc = 0;
  uint64_t address = 0;
  uint64_t seen = 0;  // hash of the values
  const std::byte* data = nullptr;
  uint32_t bytes = 0;
};

/// Notes a poll. Marks the warp as spinning when its polls repeat and nothing changes.
void poll(Machine& m, Warp& w, const PolledValue& look);
/// A sleep counts as a poll when no memory was polled since the last sleep.
void poll_sleep(Machine& m, Warp& w, uint32_t pc);

/// True when all warps of the block wait and the places polled by spinning warps are unchanged.
/// Running the block now would change nothing.
bool still_waits(const ResidentBlock& block);

/// A hash of everything that decides what the block does next. It leaves out memory outside the
/// block and the order in which groups run.
uint64_t state_of(const ResidentBlock& block, uint32_t file_bytes);
uint64_t state_of(const ResidentBlock& block, const Warp& warp, uint32_t file_bytes);

/// Finds a cycle in a sequence of hashes of any length; it stores one of them (Brent's algorithm).
class CycleFinder {
 public:
  /// Takes the next hash. Returns true when it equals the stored one.
  bool next(uint64_t value);
  void restart() { *this = CycleFinder(); }

 private:
  uint64_t remembered_ = 0;
  uint64_t power_ = 1, steps_ = 0;
  bool started_ = false;
};

}  // namespace kw::vgpu
