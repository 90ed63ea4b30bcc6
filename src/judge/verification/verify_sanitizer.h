// NVIDIA's compute-sanitizer in the place of the virtual GPU, for modules that use an instruction
// it does not know: this program's own `run` under each of the four tools.
#pragma once

#include <string>

#include "gate/gate.h"

namespace kw::verification {

/// Empty when compute-sanitizer is not found on this machine.
gate::OtherCheckers sanitizer_checkers(const std::string& module_path);

/// The same with the programs named, for tests.
gate::OtherCheckers sanitizer_checkers(const std::string& module_path, const std::string& sanitizer,
                                       const std::string& self);

}  // namespace kw::verification
