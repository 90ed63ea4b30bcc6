// The driver refuses a bad launch with a bare code such as "invalid value", and a wrong parameter
// size makes it read past our memory. So a launch is checked here first, and refused with its line
// and the numbers. The checks run once per program, outside the clock; queueing a launch only packs
// its parameters. Relying on the driver would save these checks, but its answer would not tell the
// author of a kernel what to change. The cost: the limits of grids, blocks and clusters are
// repeated here. Older drivers do not tell parameter sizes, so slack of 32 KiB follows the
// parameters.
#include "cuda/launch.h"

#include <fmt/core.h>

#include <cstring>

#include "arch/arch.h"
#include "core/check.h"

namespace kw::cuda {
namespace {

using kernel::Dim3;
using kernel::Launch;

// The driver reads as many bytes as the kernel declares. No kernel takes more than 32,764 bytes of
// parameters. So this slack keeps the reads inside our memory even if the sizes are unknown.
constexpr size_t kParamSlack = 32768;

std::string text(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

Fault refuse(const Launch& launch, const std::string& why) {
  return refusal(fmt::format("launching {} (line {}): {}", launch.kernel, launch.line, why));
}

MaybeFault check_params(const LoadedFunction& function, const Launch& launch) {
  if (!function.params_known) return Done{};
  const size_t given = launch.params.size();
  if (given != function.param_bytes.size()) {
    return refuse(launch, fmt::format("the kernel takes {} parameters, the launch gives {}",
                                      function.param_bytes.size(), given));
  }
  for (size_t i = 0; i < given; ++i) {
    const kernel::Param& param = launch.params[i];
    const size_t bytes = param.buffer >= 0 ? sizeof(CuDevicePtr) : param.bytes.size();
    if (bytes != function.param_bytes[i]) {
      return refuse(
          launch, fmt::format("parameter {} ('{}') is {} bytes in the kernel, {} in the launch", i,
                              param.name, function.param_bytes[i], bytes));
    }
  }
  return Done{};
}

MaybeFault check_geometry(const Context& context, const LoadedFunction& function,
                          const Launch& launch) {
  const Dim3& grid = launch.grid;
  const Dim3& block = launch.block;
  if (grid.count() == 0 || block.count() == 0) {
    return refuse(launch, fmt::format("grid {} block {} is empty", text(grid), text(block)));
  }
  if (grid.x > arch::kMaxGridX || grid.y > arch::kMaxGridYZ || grid.z > arch::kMaxGridYZ) {
    return refuse(launch, fmt::format("grid {} exceeds (2147483647, 65535, 65535)", text(grid)));
  }
  if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
      block.count() > arch::kMaxThreadsPerBlock) {
    return refuse(launch,
                  fmt::format("block {} exceeds (1024, 1024, 64) or 1024 threads", text(block)));
  }
  if (function.max_threads > 0 && block.count() > static_cast<uint64_t>(function.max_threads)) {
    return refuse(launch, fmt::format("a block of {} threads, but the kernel can run {} at most "
                                      "({} registers per thread, launch bounds)",
                                      block.count(), function.max_threads, function.registers));
  }
  const Dim3& cluster = launch.cluster;
  if (cluster.count() == 0 || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z) {
    return refuse(
        launch, fmt::format("grid {} is not a multiple of cluster {}", text(grid), text(cluster)));
  }
  if (cluster.count() > 1 && !context.can_cluster()) {
    return refuse(launch, "clusters need sm_90 or newer; this device is " + context.info().target);
  }
  return Done{};
}

MaybeFault opt_in_shared(const Context& context, LoadedFunction& function, const Launch& launch) {
  const int64_t limit = context.info().shared_per_block_optin;
  const int64_t needed = launch.shared_bytes + function.static_shared;
  if (launch.shared_bytes < 0 || needed > limit) {
    return refuse(
        launch, fmt::format("needs {} bytes of shared memory ({} dynamic, {} static), this device "
                            "gives a block {} at most",
                            needed, launch.shared_bytes, function.static_shared, limit));
  }
  if (launch.shared_bytes <= function.max_dynamic_shared) return Done{};
  const int bytes = static_cast<int>(launch.shared_bytes);
  KW_TRY(context.check(
      context.api().function_set_attribute(function.handle, kFuncMaxDynamicShared, bytes),
      fmt::format("opting {} in to {} bytes of shared memory", launch.kernel, bytes)));
  function.max_dynamic_shared = bytes;
  return Done{};
}

MaybeFault check_cooperative(const Context& context, const LoadedFunction& function,
                             const Launch& launch) {
  if (!launch.cooperative) return Done{};
  if (!context.can_cooperate()) return refuse(launch, "this device has no cooperative launches");
  int per_sm = 0;
  KW_TRY(context.check(
      context.api().occupancy(&per_sm, function.handle, static_cast<int>(launch.block.count()),
                              static_cast<size_t>(launch.shared_bytes)),
      "asking for the occupancy of " + launch.kernel));
  const uint64_t resident =
      static_cast<uint64_t>(per_sm) * static_cast<uint64_t>(context.info().sms);
  if (launch.grid.count() > resident) {
    return refuse(
        launch,
        fmt::format("a cooperative grid of {} blocks, but only {} can be resident ({} SMs x {})",
                    launch.grid.count(), resident, context.info().sms, per_sm));
  }
  return Done{};
}

}  // namespace

MaybeFault prepare_launch(const Context& context, LoadedFunction& function, const Launch& launch) {
  if (launch.pdl)
    return refuse(launch,
                  "programmatic dependent launch (pdl) is not supported on this device yet");
  KW_TRY(check_params(function, launch));
  KW_TRY(check_geometry(context, function, launch));
  KW_TRY(opt_in_shared(context, function, launch));
  KW_TRY(check_cooperative(context, function, launch));
  if (launch.cluster.count() > 8) {
    KW_TRY(context.check(
        context.api().function_set_attribute(function.handle, kFuncNonPortableCluster, 1),
        fmt::format("allowing {} clusters of {}", launch.kernel, launch.cluster.count())));
  }
  return Done{};
}

MaybeFault enqueue_launch(const Context& context, const LoadedFunction& function,
                          const Launch& launch, const std::vector<CuDevicePtr>& addresses) {
  return enqueue_launch_on(context.stream(), context, function, launch, addresses);
}

MaybeFault enqueue_launch_on(CuStream stream, const Context& context,
                             const LoadedFunction& function, const Launch& launch,
                             const std::vector<CuDevicePtr>& addresses) {
  size_t total = 0;
  for (const kernel::Param& param : launch.params)
    total += (param.bytes.size() + 15) / 16 * 16 + 16;
  std::vector<uint64_t> storage((total + kParamSlack) / sizeof(uint64_t));
  std::vector<void*> pointers;
  auto* cursor = reinterpret_cast<uint8_t*>(storage.data());
  for (const kernel::Param& param : launch.params) {
    pointers.push_back(cursor);
    if (param.buffer >= 0) {
      KW_CHECK(static_cast<size_t>(param.buffer) < addresses.size(),
               "a parameter names a buffer that exists");
      std::memcpy(cursor, &addresses[static_cast<size_t>(param.buffer)], sizeof(CuDevicePtr));
      cursor += 16;
    } else {
      const std::vector<uint8_t> bytes = kernel::patched_bytes(param, [&](int buffer) {
        KW_CHECK(static_cast<size_t>(buffer) < addresses.size(),
                 "a pointer in a parameter names a buffer that exists");
        return addresses[static_cast<size_t>(buffer)];
      });
      std::memcpy(cursor, bytes.data(), bytes.size());
      cursor += (param.bytes.size() + 15) / 16 * 16;
    }
  }

  CuLaunchAttribute attributes[2] = {};
  CuLaunchConfig config{launch.grid.x,
                        launch.grid.y,
                        launch.grid.z,
                        launch.block.x,
                        launch.block.y,
                        launch.block.z,
                        static_cast<unsigned>(launch.shared_bytes),
                        stream,
                        attributes,
                        0};
  if (launch.cooperative) {
    CuLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchCooperative;
    attribute.value.cooperative = 1;
  }
  if (launch.cluster.count() > 1) {
    CuLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchClusterDimension;
    attribute.value.cluster = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
  }
  const CuResult code = context.api().launch(&config, function.handle, pointers.data(), nullptr);
  if (code == kSuccess) return Done{};
  return context.check(
      code, fmt::format("launching {} (line {}) grid {} block {} shared {}", launch.kernel,
                        launch.line, text(launch.grid), text(launch.block), launch.shared_bytes));
}

}  // namespace kw::cuda
