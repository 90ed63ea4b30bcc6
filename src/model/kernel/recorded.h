// Recorded modules: launches that a foreign host program made, written down with their numbers.
// Their device code is PTX. Shared by the code that parses, compiles and writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"
#include "kernel/module.h"

namespace kw::kernel {

/// The PTX of a recorded module: its text without plan lines.
std::string recorded_ptx(std::string_view text);

/// The rules for device code that can be checked in PTX: no clocks.
std::vector<cuda_source::Diagnostic> check_recorded_text(std::string_view text);

/// One value of params(…), in the form that the parser reads.
std::string param_text(const RecordedParam& param);

}  // namespace kw::kernel
