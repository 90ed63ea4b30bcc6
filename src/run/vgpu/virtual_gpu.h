// The virtual GPU: executes PTX on the CPU, warp by warp, with every access checked. Deterministic,
// in-process, and safe against any PTX text. It has no clock: times come only from a real GPU.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "arch/arch.h"
#include "exec/device.h"

namespace kw::vgpu {

struct Image;

class VirtualGpu : public exec::Device {
 public:
  /// A device of this kind ("" = sm_90). Blame::Input for an unknown target.
  static Result<std::unique_ptr<VirtualGpu>> open(const std::string& target);
  ~VirtualGpu() override;

  exec::DeviceInfo info() const override;
  /// Parses and decodes the PTX. The error lists every instruction that cannot be executed, with
  /// its source line.
  Result<exec::ImageId> load(const exec::Compiled& compiled) override;
  Result<exec::RunOutcome> run(exec::ImageId image, const kernel::Program& program,
                               const exec::InputViews& inputs,
                               const exec::RunOptions& options) override;
  Result<exec::TimeOutcome> time(const std::vector<exec::TimedProgram>& programs,
                                 const exec::TimeProtocol& protocol) override;
  Status health() override;

 private:
  explicit VirtualGpu(const arch::Target& target);

  arch::Target target_;
  exec::ImageId next_ = 1;
  std::map<exec::ImageId, std::unique_ptr<Image>> images_;
};

}  // namespace kw::vgpu
