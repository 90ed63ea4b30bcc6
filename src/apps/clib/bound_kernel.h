// A kernel module at given shapes on one device, ready to run on the caller's tensors.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "clib/kernelwright.h"
#include "clib/tensors.h"
#include "core/json.h"
#include "core/result.h"
#include "kernel/program.h"
#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::clib {

/// What the candidate did wrong, as text; "" when nothing. Errors are caused by the caller or the
/// machine.
using RunResult = Result<std::string>;

class LaunchPlan {
 public:
  virtual ~LaunchPlan() = default;
  /// `tensors` is parallel to the program's buffers.
  virtual RunResult run(std::span<const kw_tensor* const> tensors, void* stream) = 0;

  const std::string& description() const { return description_; }

 protected:
  LaunchPlan(kernel::Program program, const ports::DeviceInfo& device, TensorPlace place);
  /// Checks the caller's tensors against the buffers; `needs_scratch` when the caller provides
  /// scratch.
  Status check(std::span<const kw_tensor* const> tensors, bool needs_scratch) const;
  const kernel::Program& program() const { return program_; }

 private:
  kernel::Program program_;
  TensorPlace place_;
  std::string description_;
};

/// On the GPU with this number, in the context that the CUDA runtime uses.
Result<std::unique_ptr<LaunchPlan>> make_cuda_plan(kernel::Program program,
                                                   const ports::Compiled& image, int ordinal);
/// On the virtual GPU, with every access checked.
Result<std::unique_ptr<LaunchPlan>> make_virtual_plan(kernel::Program program,
                                                      const ports::Compiled& image,
                                                      std::shared_ptr<ports::Device> device);

}  // namespace kw::clib
