// Host code in device source. NVRTC and clang are told to take functions and variables without an
// annotation for device code, and refuse what that cannot be; nvcc takes them for the host's and
// leaves them out. The rule that a module has no host code must not depend on the compiler.
#pragma once

#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"

namespace kw::cuda_source {

/// Functions with a body and variables of namespace scope that nvcc would take for host code. What
/// a macro may annotate is left out.
std::vector<Diagnostic> find_host_code(std::string_view text);

}  // namespace kw::cuda_source
