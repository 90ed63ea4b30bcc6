// A kernel module from a file or a text, ready for the stories. Text that is no module is an input
// Error that carries every diagnostic.
#pragma once

#include <string>

#include "core/result.h"
#include "kernel/module.h"

namespace kw::binding {

/// Errors: the file cannot be read, is binary or too large, or does not parse (all problems,
/// rendered with carets).
Result<kernel::Module> load_module(const std::string& path);

/// The same for a text in memory.
Result<kernel::Module> parse_module(const std::string& text, const std::string& file_name);

}  // namespace kw::binding
