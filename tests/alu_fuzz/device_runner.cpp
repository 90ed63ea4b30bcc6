#include "device_runner.h"

#include <cstring>

namespace kw::alu_fuzz {
namespace {

kernel::Buffer buffer(const std::string& name, kernel::Role role, size_t count) {
  kernel::Buffer out;
  out.name = name;
  out.role = role;
  out.dtype = tensor::DType::Uint64;
  out.shape = {static_cast<int64_t>(count)};
  out.bytes = static_cast<int64_t>(8 * count);
  return out;
}

kernel::Program program_of(const Batch& batch) {
  kernel::Program program;
  program.module_name = "alu_fuzz.ptx";
  program.buffers = {buffer("in", kernel::Role::Input, batch.inputs().size()),
                     buffer("out", kernel::Role::Output, batch.output_count())};
  kernel::Launch launch;
  launch.kernel = launch.entry = "alu_fuzz";
  launch.block.x = static_cast<uint32_t>(batch.threads());
  for (int i = 0; i < 2; ++i) {
    kernel::Param param;
    param.buffer = i;
    param.name = i == 0 ? "in" : "out";
    launch.params.push_back(param);
  }
  program.launches = {launch};
  return program;
}

ports::Compiled image_of(const Batch& batch, int ptx_version, const std::string& target) {
  ports::Compiled compiled;
  compiled.kind = ports::ImageKind::Ptx;
  compiled.image = batch.ptx(ptx_version, target);
  compiled.target = target;
  ports::CompiledKernel kernel;
  kernel.expression = kernel.entry = "alu_fuzz";
  compiled.kernels = {kernel};
  return compiled;
}

}  // namespace

Result<std::vector<uint64_t>> run_on_device(const Batch& batch, ports::Device& device,
                                            int ptx_version, const std::string& target) {
  const ports::ImageId image = KW_TRY(device.load(image_of(batch, ptx_version, target)));
  const kernel::Program program = program_of(batch);
  tensor::HostTensor in =
      KW_TRY(tensor::make_tensor(tensor::DType::Uint64, program.buffers[0].shape));
  std::memcpy(in.data.data(), batch.inputs().data(), in.data.size());
  const ports::RunOutcome outcome =
      KW_TRY(device.run(image, program, std::vector<tensor::HostTensor>{in, {}}, {}));
  if (outcome.status != ports::RunStatus::Completed)
    return input_error(std::string(ports::run_status_name(outcome.status)) + ": " +
                       outcome.message);
  // Quotients of zero divisors are among the operands, and are undefined.
  for (const record::Finding& finding : outcome.findings) {
    if (finding.kind != record::FindingKind::UninitialisedUse)
      return input_error("a finding: " + finding.message);
  }
  std::vector<uint64_t> out(batch.output_count());
  std::memcpy(out.data(), outcome.buffers.at(1).data.data(), 8 * out.size());
  return out;
}

}  // namespace kw::alu_fuzz
