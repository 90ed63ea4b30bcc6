// Reads a kernel module from a file or a text. If the text does not parse, an input Error lists
// every problem.
#pragma once

#include <string>

#include "core/result.h"
#include "kernel/module.h"

namespace kw::binding {

/// Errors: the file cannot be read, is binary, is too large, or does not parse (all problems, with
/// carets).
Result<kernel::Module> load_module(const std::string& path);

/// The same for a text in memory.
Result<kernel::Module> parse_module(const std::string& text, const std::string& file_name);

}  // namespace kw::binding
