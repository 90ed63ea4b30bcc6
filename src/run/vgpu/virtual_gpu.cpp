#include "vgpu/virtual_gpu.h"

#include <fmt/core.h>

#include "kCanary.inc"
#include "vgpu/decoded_image.h"
#include "vgpu/program_memory.h"
#include "vgpu/program_run.h"

namespace kw::vgpu {

VirtualGpu::VirtualGpu(const arch::Target& target) : target_(target) {}
VirtualGpu::~VirtualGpu() = default;

Result<std::unique_ptr<VirtualGpu>> VirtualGpu::open(const std::string& target) {
  const arch::Target row = KW_TRY(arch::find_target(target.empty() ? "sm_90" : target));
  return std::unique_ptr<VirtualGpu>(new VirtualGpu(row));
}

ports::DeviceInfo VirtualGpu::info() const {
  ports::DeviceInfo info;
  info.name = fmt::format("virtual GPU ({})", target_.name);
  info.target = target_.name;
  info.is_virtual = true;
  info.sms = target_.default_sms;
  info.l2_bytes = target_.default_l2_bytes;
  info.shared_per_block_optin = target_.shared_per_block_optin;
  info.memory_bytes = static_cast<int64_t>(physical_bytes());
  info.image = ports::ImageKind::Ptx;
  return info;
}

Result<ports::ImageId> VirtualGpu::load(const ports::Compiled& compiled) {
  if (compiled.kind != ports::ImageKind::Ptx)
    return input_error("the virtual GPU runs PTX, not a compiled cubin");
  auto image = std::make_unique<Image>(KW_TRY(load_image(compiled.image)));
  for (const ports::CompiledKernel& kernel : compiled.kernels)
    image->registers[kernel.entry] = kernel.resources.registers;
  images_[next_] = std::move(image);
  return next_++;
}

Result<ports::RunOutcome> VirtualGpu::run(ports::ImageId image, const kernel::Program& program,
                                          const ports::InputViews& inputs,
                                          const ports::RunOptions& options) {
  const auto found = images_.find(image);
  if (found == images_.end()) return input_error("no image {} is loaded", image);
  LaunchRequest request;
  request.target = &target_;
  request.image = found->second.get();
  request.program = &program;
  request.inputs = &inputs;
  request.options = options;
  return run_program(request);
}

Result<ports::TimeOutcome> VirtualGpu::time(const std::vector<ports::TimedProgram>&,
                                            const ports::TimeProtocol&) {
  return environment_error(
      "the virtual GPU has no clock: times come only from a real GPU (use --counters here)");
}

Status VirtualGpu::health() {
  ports::Compiled compiled;
  compiled.image = kCanary;
  const ports::ImageId id = KW_TRY(load(compiled));
  kernel::Program program;
  kernel::Buffer out;
  out.name = "out";
  out.role = kernel::Role::Output;
  out.dtype = tensor::DType::Int32;
  out.shape = {64};
  out.bytes = 256;
  program.buffers.push_back(out);
  kernel::Launch launch;
  launch.kernel = launch.entry = "canary";
  launch.block.x = 64;
  launch.params.push_back({0, {}, "out"});
  program.launches.push_back(launch);
  const ports::RunOutcome outcome =
      KW_TRY(run(id, program, {std::vector<tensor::HostTensor>(1)}, {}));
  images_.erase(id);
  for (int64_t i = 0; i < 64; ++i) {
    if (outcome.findings.empty() &&
        tensor::get_element(outcome.buffers[0], i) == static_cast<double>(3 * i + 7))
      continue;
    return environment_error("the virtual GPU computes wrong results on this machine");
  }
  return Done{};
}

}  // namespace kw::vgpu
