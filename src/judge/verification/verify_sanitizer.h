// Uses NVIDIA's compute-sanitizer instead of the virtual GPU for modules with an instruction it
// does not know. Runs this program's own `run` under each of the four tools.
#pragma once

#include <string>

#include "gate/gate.h"

namespace kw::verification {

/// Empty when compute-sanitizer is not installed.
gate::OtherCheckers sanitizer_checkers(const std::string& module_path);

/// The same with explicit program paths, for tests.
gate::OtherCheckers sanitizer_checkers(const std::string& module_path, const std::string& sanitizer,
                                       const std::string& self);

}  // namespace kw::verification
