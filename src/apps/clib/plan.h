// A kernel module at given shapes on one device, ready to be run on tensors of the caller's.
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

/// What the candidate did wrong, in words; "" when it did not. Errors are the caller's or the
/// machine's.
using Ran = Result<std::string>;

class Plan {
 public:
  virtual ~Plan() = default;
  /// `tensors` is parallel to the program's buffers.
  virtual Ran run(std::span<const kw_tensor* const> tensors, void* stream) = 0;

  const std::string& description() const { return description_; }

 protected:
  Plan(kernel::Program program, const ports::DeviceInfo& device, Room room);
  /// The caller's tensors against the buffers; `needs_scratch` where the caller brings it.
  Status check(std::span<const kw_tensor* const> tensors, bool needs_scratch) const;
  const kernel::Program& program() const { return program_; }

 private:
  kernel::Program program_;
  Room room_;
  std::string description_;
};

/// On the GPU of that number, in the context the CUDA runtime uses.
Result<std::unique_ptr<Plan>> make_cuda_plan(kernel::Program program, const ports::Compiled& image,
                                             int ordinal);
/// On the virtual GPU, every access checked.
Result<std::unique_ptr<Plan>> make_virtual_plan(kernel::Program program,
                                                const ports::Compiled& image,
                                                std::shared_ptr<ports::Device> device);

}  // namespace kw::clib
