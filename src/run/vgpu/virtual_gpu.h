// The virtual GPU: executes PTX on the CPU, warp by warp, and checks every access. It is
// deterministic, runs in-process and is safe against any PTX text. It has no clock: times come only
// from a real GPU.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "arch/arch.h"
#include "ports/device.h"

namespace kw::vgpu {

struct Image;

class VirtualGpu : public ports::Device {
 public:
  /// Opens a device of this target ("" = sm_90). Blame::Input for an unknown target.
  static Result<std::unique_ptr<VirtualGpu>> open(const std::string& target);
  ~VirtualGpu() override;

  ports::DeviceInfo info() const override;
  /// Parses and decodes the PTX. The error lists the instructions that cannot be executed, with
  /// their source lines.
  Result<ports::ImageId> load(const ports::Compiled& compiled) override;
  Result<ports::RunOutcome> run(ports::ImageId image, const kernel::Program& program,
                                const ports::InputViews& inputs,
                                const ports::RunOptions& options) override;
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>& programs,
                                  const ports::TimeProtocol& protocol) override;
  Status health() override;

 private:
  explicit VirtualGpu(const arch::Target& target);

  arch::Target target_;
  ports::ImageId next_ = 1;
  std::map<ports::ImageId, std::unique_ptr<Image>> images_;
};

}  // namespace kw::vgpu
