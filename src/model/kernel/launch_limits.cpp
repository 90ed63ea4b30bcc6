#include "kernel/launch_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/text.h"

namespace kw::kernel {

namespace {

constexpr std::array<int64_t, 3> kBlockLimits = {1024, 1024, 64};
constexpr std::array<int64_t, 3> kGridLimits = {arch::kMaxGridX, arch::kMaxGridYZ,
                                                arch::kMaxGridYZ};
constexpr int64_t kMaxCluster = 16;
constexpr const char* kAxes = "xyz";

std::string written(const char* what, const std::vector<Expr>& exprs) {
  std::vector<std::string> pieces;
  for (const Expr& expr : exprs) pieces.push_back(expr.text);
  return fmt::format("{}({})", what, join(pieces, ", "));
}

std::string with_values(const Expr& expr, const Scope& scope) {
  const std::string values = values_of(expr, scope);
  return values.empty() ? "" : " (" + values + ")";
}

Result<Dim3> extents(const LaunchDecl& launch, const char* what, const std::vector<Expr>& exprs,
                     const std::array<int64_t, 3>& limits, int64_t least, const Scope& scope) {
  std::array<int64_t, 3> values = {1, 1, 1};
  for (size_t i = 0; i < exprs.size(); ++i) {
    values[i] = KW_TRY(evaluate(exprs[i], scope));
    if (values[i] >= least && values[i] <= limits[i]) continue;
    return input_error("line {}: {}: {} is {}{}; it must be {} … {}", launch.line,
                       written(what, exprs), kAxes[i], values[i], with_values(exprs[i], scope),
                       least, limits[i]);
  }
  return Dim3{static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
              static_cast<uint32_t>(values[2])};
}

Status check_cluster(const LaunchDecl& launch, const arch::Target& target,
                     const LaunchShape& shape) {
  if (launch.cluster.empty()) return Done{};
  if (target.major < 9)
    return input_error("line {}: clusters need sm_90 or newer, not {}", launch.line, target.name);
  const Dim3 &grid = shape.grid, &cluster = shape.cluster;
  if (grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0) return Done{};
  return input_error("line {}: the grid {}×{}×{} is not a multiple of the cluster {}×{}×{}",
                     launch.line, grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
}

}  // namespace

Result<LaunchShape> block_shape(const LaunchDecl& launch, const Scope& scope) {
  LaunchShape shape;
  shape.block = KW_TRY(extents(launch, "block", launch.block, kBlockLimits, 1, scope));
  if (shape.block.count() > static_cast<uint64_t>(arch::kMaxThreadsPerBlock)) {
    return input_error("line {}: {} has {} threads; a block has at most {}", launch.line,
                       written("block", launch.block), shape.block.count(),
                       arch::kMaxThreadsPerBlock);
  }
  constexpr std::array<int64_t, 3> kClusterLimits = {kMaxCluster, kMaxCluster, kMaxCluster};
  shape.cluster = KW_TRY(extents(launch, "cluster", launch.cluster, kClusterLimits, 1, scope));
  if (shape.cluster.count() > static_cast<uint64_t>(kMaxCluster)) {
    return input_error("line {}: {} has {} blocks; a cluster has at most {}", launch.line,
                       written("cluster", launch.cluster), shape.cluster.count(), kMaxCluster);
  }
  if (!launch.shared) return shape;
  shape.shared_bytes = KW_TRY(evaluate(*launch.shared, scope));
  if (shape.shared_bytes >= 0) return shape;
  return input_error("line {}: shared({}) is {}{}; it cannot be negative", launch.line,
                     launch.shared->text, shape.shared_bytes, with_values(*launch.shared, scope));
}

Result<bool> grid_shape(const LaunchDecl& launch, const Scope& scope, bool may_be_empty,
                        LaunchShape& shape) {
  const int64_t least = may_be_empty ? 0 : 1;
  shape.grid = KW_TRY(extents(launch, "grid", launch.grid, kGridLimits, least, scope));
  return shape.grid.count() == 0;
}

Status check_resources(const LaunchDecl& launch, const KernelInfo& info, const arch::Target& target,
                       const LaunchShape& shape) {
  const int64_t fixed = std::max<int64_t>(info.static_shared, 0);
  const int64_t limit = target.shared_per_block_optin;
  if (fixed > target.shared_per_block) {
    return input_error(
        "line {}: '{}' declares {} bytes of static shared memory; {} allows {}; more must be "
        "dynamic: extern __shared__ and shared(BYTES)",
        launch.line, launch.kernel, fixed, target.name, target.shared_per_block);
  }
  if (shape.shared_bytes > limit - fixed) {
    return input_error(
        "line {}: the block needs {} bytes of static and {} bytes of dynamic shared memory; {} has "
        "{}",
        launch.line, fixed, shape.shared_bytes, target.name, limit);
  }
  const auto threads = static_cast<int64_t>(shape.block.count());
  if (info.max_threads > 0 && threads > info.max_threads) {
    return input_error(
        "line {}: {} threads per block, but '{}' is bounded to {} by __launch_bounds__",
        launch.line, threads, launch.kernel, info.max_threads);
  }
  const int resident = arch::resident_blocks(target, static_cast<int>(threads), info.registers,
                                             fixed + shape.shared_bytes);
  if (resident == 0) {
    return input_error(
        "line {}: not even one block fits an SM of {}: {} threads with {} registers each; use "
        "smaller blocks or __launch_bounds__({})",
        launch.line, target.name, threads, info.registers, threads);
  }
  return check_cluster(launch, target, shape);
}

}  // namespace kw::kernel
