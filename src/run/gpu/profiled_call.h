// One call of a program in its own process, for a profiler. Inputs are laid out, the program is
// warmed up, and exactly one call runs between the driver's profiler marks. No other kernel runs
// between them.
#pragma once

#include <string>
#include <vector>

#include "gpu/arena.h"
#include "ports/device.h"

namespace kw::gpu {

/// The hidden subcommand that runs profiled_call().
inline constexpr const char* kProfiledCallCommand = "profiled-call";

/// The data that such a process needs. Must outlive it.
class ProfiledCall {
 public:
  /// Writes the image and the program to the file, and the inputs to shared memory. Blame::Input
  /// unless the tensors fit the program's buffers.
  static Result<ProfiledCall> write(const ports::Compiled& compiled, const kernel::Program& program,
                                    const ports::InputViews& inputs, const std::string& file,
                                    double timeout_seconds);
  /// The subcommand and its arguments.
  std::vector<std::string> words() const;

 private:
  std::string file_;
  Arena inputs_;
};

/// Runs in the process. `memory` is the path of the shared memory that holds the inputs.
Status profiled_call(const std::string& file, const std::string& memory);

}  // namespace kw::gpu
