// The work of a launch, counted exactly by the virtual GPU. docs/virtual-gpu.md has the formulas;
// the names are comparable with those of ncu.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace kw::record {

inline constexpr int kSectorBytes = 32;  // unit in which global memory is read and written

enum class InstClass : uint8_t {
  Integer,
  Float16,
  Float32,
  Float64,
  Special,
  Convert,
  Move,
  Predicate,
  Control,
  Barrier,
  Collective,
  LoadGlobal,
  StoreGlobal,
  LoadShared,
  StoreShared,
  LoadLocal,
  StoreLocal,
  LoadConst,
  Atomic,
  Tensor,
  Other,
};
inline constexpr int kInstClasses = static_cast<int>(InstClass::Other) + 1;
const char* inst_class_name(InstClass c);

/// Every field is a plain sum, so counters of launches, lines and threads can be added.
struct CounterValues {
  std::array<uint64_t, kInstClasses> warp_instructions{};  // by class
  uint64_t warp_total = 0;                                 // warp instructions issued
  uint64_t lane_total = 0;                                 // lanes active in them
  uint64_t branches = 0, divergent_branches = 0;
  uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;
  uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;
  uint64_t shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_bytes = 0;
  uint64_t shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_bytes = 0;
  uint64_t shared_bank_conflicts = 0;  // wavefronts beyond the minimum
  uint64_t local_bytes = 0;
  uint64_t atomic_requests = 0, atomic_lanes = 0,
           atomic_serialised = 0;  // serialised: lanes that hit an address already in use
  uint64_t barriers = 0;           // warp arrivals
  uint64_t flops_fp16 = 0, flops_fp32 = 0, flops_fp64 = 0, flops_tensor = 0;

  CounterValues& operator+=(const CounterValues& other);
  /// lane_total / (32 * warp_total).
  double lane_efficiency() const;
};

struct LineCounters {
  std::string file;
  int line = 0;
  CounterValues values;
};

struct LaunchCounters {
  std::string kernel;
  uint64_t blocks = 0, threads_per_block = 0;
  CounterValues total;
  std::vector<LineCounters> lines;  // ordered by file and line
};

Json to_json(const LaunchCounters& counters);

}  // namespace kw::record
