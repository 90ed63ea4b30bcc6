// One call of a program in a process of its own, for a profiler to look at: inputs laid out, warmed
// up, and exactly one call between the driver's marks for profilers. No framework, no other kernels
// in between.
#pragma once

#include <string>
#include <vector>

#include "gpu/arena.h"
#include "ports/device.h"

namespace kw::gpu {

/// The hidden subcommand behind which profiled_call() is.
inline constexpr const char* kProfiledCallCommand = "profiled-call";

/// What such a process is given. Must outlive it.
class ProfiledCall {
 public:
  /// Writes image and program to the file, inputs to shared memory. Blame::Input unless the tensors
  /// fit the program's buffers.
  static Result<ProfiledCall> write(const ports::Compiled& compiled, const kernel::Program& program,
                                    const ports::InputViews& inputs, const std::string& file,
                                    double timeout_seconds);
  /// The subcommand and its arguments.
  std::vector<std::string> words() const;

 private:
  std::string file_;
  Arena inputs_;
};

/// The process's side. `memory` is the path of the shared memory that holds the inputs.
Status profiled_call(const std::string& file, const std::string& memory);

}  // namespace kw::gpu
