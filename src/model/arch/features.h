// Features that only some targets have. The lookup is exact: a newer chip may lack a feature of an
// older one, and an 'a' target has more than the plain target. Checked against ptxas 13.0, which
// refuses instructions that a target lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"

namespace kw::arch {

enum class Feature : uint8_t {
  TensorCore,          // mma on fp16
  Int8TensorCore,      // mma on int8
  Tf32TensorCore,      // mma on tf32 and bf16
  StructuredSparsity,  // mma.sp: 2 of 4 values
  Fp8TensorCore,       // mma on e4m3 and e5m2
  Ldmatrix,
  Stmatrix,
  CpAsync,        // copies global to shared memory without registers
  L2Persistence,  // access policy windows
  L2Prefetch,
  Redux,              // warp-wide integer reduction
  Mbarrier,           // arrive and test
  MbarrierTryWait,    // a wait that suspends the thread
  Cluster,            // blocks launched together
  DistributedShared,  // the shared memory of other blocks of the cluster
  Tma,                // bulk copies by descriptor
  Pdl,                // a kernel may start before the kernel it depends on ends
  Wgmma,              // asynchronous mma of a warp group
  Setmaxnreg,         // registers moved between warp groups
  Tcgen05,            // mma into tensor memory
  BlockScaling,       // mma on values that share one scale per block
  ClusterLaunchControl,
};
inline constexpr int kFeatures = static_cast<int>(Feature::ClusterLaunchControl) + 1;

/// "wgmma", "cp_async": the spelling of the catalogue.
const char* feature_name(Feature feature);
std::optional<Feature> feature_from_name(std::string_view name);
/// All names, for suggestions.
std::vector<std::string> feature_names();

bool has(const Target& target, Feature feature);
/// The features of the list that the target lacks.
std::vector<Feature> lacking(const Target& target, std::span<const Feature> features);
/// Names of the targets that have all features of the list, oldest first.
std::vector<std::string> targets_with(std::span<const Feature> features);

}  // namespace kw::arch
