// Recorded modules: launches that a foreign host program made, written down with their numbers,
// over PTX instead of CUDA text. What is common to whoever parses, compiles or writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"
#include "kernel/module.h"

namespace kw::kernel {

/// The PTX of a recorded module: its text without plan lines.
std::string recorded_ptx(std::string_view text);

/// Rules for the device code that hold for every module and can be judged from PTX: no clocks.
std::vector<cuda_source::Diagnostic> check_recorded_text(std::string_view text);

/// One value of params(…), as the parser reads it back.
std::string param_text(const RecordedParam& param);

}  // namespace kw::kernel
