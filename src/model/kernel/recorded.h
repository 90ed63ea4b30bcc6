// Recorded modules: launches that a foreign host program made, written down with their numbers.
// Their device code is PTX. Shared by the code that parses, compiles and writes them.
#pragma once

#include <string>
#include <string_view>

#include "kernel/module.h"

namespace kw::kernel {

/// The PTX of a recorded module: its text without plan lines.
std::string recorded_ptx(std::string_view text);

/// What a recorded module says about its origin; "" for other modules.
std::string recorded_from(std::string_view text);

/// One value of params(…), in the form that the parser reads.
std::string param_text(const RecordedParam& param);

}  // namespace kw::kernel
