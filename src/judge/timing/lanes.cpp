#include "timing/lanes.h"

#include <fmt/core.h>

#include "cuda/driver.h"
#include "gpu/gpu_device.h"
#include "timing/calibration.h"
#include "verification/verify_tools.h"
#include "vgpu/virtual_gpu.h"

namespace kw::timing {
namespace {

constexpr double kPatienceSeconds = 1;  // a further GPU that is busy is not used

}  // namespace

// The lanes point into it, so it must be destroyed after them: see the order of members.
struct Lanes::Parts {
  std::unique_ptr<gpu::GpuDevice> gpu;
  std::unique_ptr<vgpu::VirtualGpu> virtual_gpu;
  std::unique_ptr<ports::Oracle> oracle;
};

Lanes::Lanes() = default;
Lanes::~Lanes() = default;

std::unique_ptr<Lanes> Lanes::single(const BenchTools& tools) {
  std::unique_ptr<Lanes> lanes(new Lanes());
  lanes->lanes_.push_back(std::make_unique<Lane>());
  lanes->lanes_.front()->tools = tools;
  return lanes;
}

Result<std::unique_ptr<Lanes>> Lanes::open(const BenchTools& tools) {
  std::unique_ptr<Lanes> lanes = single(tools);
  if (tools.verify.gpu == nullptr) return lanes;
  const auto driver = cuda::Driver::open();
  const ports::DeviceInfo first = tools.verify.gpu->info();
  for (int ordinal = 1; driver && ordinal < (*driver)->device_count(); ++ordinal) {
    gpu::GpuOptions options;
    options.lock_timeout_seconds = kPatienceSeconds;
    auto opened = gpu::GpuDevice::open(ordinal, options);
    if (!opened) {
      lanes->notes_.push_back(
          fmt::format("GPU {} is not used: {}", ordinal, opened.error().message));
      continue;
    }
    if ((*opened)->info().name != first.name) {
      lanes->notes_.push_back(fmt::format("GPU {} is not used: it is a {}, not a {}", ordinal,
                                          (*opened)->info().name, first.name));
      continue;
    }
    auto parts = std::make_unique<Parts>();
    parts->gpu = std::move(opened).value();
    parts->virtual_gpu = KW_TRY(vgpu::VirtualGpu::open(tools.verify.virtual_gpu->info().target));
    parts->oracle = verification::open_oracle({tools.verify.compiler, parts->gpu.get(), ordinal});
    auto lane = std::make_unique<Lane>();
    lane->tools.verify = {tools.verify.compiler, parts->virtual_gpu.get(), parts->gpu.get(),
                          parts->oracle.get()};
    gpu::GpuDevice* gpu = parts->gpu.get();
    lane->tools.calibrate = [gpu] { return gpu->calibrate(kCalibrationSeconds); };
    lane->tools.renew = [gpu] { gpu->renew(); };
    lanes->parts_.push_back(std::move(parts));
    lanes->lanes_.push_back(std::move(lane));
  }
  return lanes;
}

}  // namespace kw::timing
