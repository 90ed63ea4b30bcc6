// Parses PTX text into a Module. Any bytes give a Module or an Error with line numbers.
#pragma once

#include <string_view>

#include "core/result.h"
#include "ptx/ptx_module.h"

namespace kw::ptx {

/// The input Error lists up to ten problems, each as "ptx line N: …". Refuses texts over 256 MB,
/// more than 4 M instructions, and variables larger than 1 GB.
Result<Module> parse(std::string_view text);

}  // namespace kw::ptx
