// Turns a compiler's log into messages with the module's own lines. Knows the formats of NVRTC,
// nvcc, ptxas and clang.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

/// Messages are in the compiler's order; remarks, repetitions and our own helper lines are dropped.
/// A message about a header has line 0 unless the log names the module line that includes it.
/// `file_name` is the module's. `kernels` are the names behind the lines that with_entries() added.
std::vector<ports::CompileMessage> parse_log(std::string_view log, std::string_view file_name,
                                             const std::vector<std::string>& kernels = {});

/// A name that every compiler accepts, also between quotes in `#line`: other characters become '_'.
std::string quotable(std::string file_name);

/// " (it comes with …: pip install …)" for a header that could not be opened, or "".
std::string header_hint(std::string_view header);

/// The mangled C++ name in readable form; the name itself when it is not mangled.
std::string demangle(const std::string& symbol);
/// Replaces every mangled name in a text by its readable form.
std::string demangle_all(std::string_view text);

/// The module line of a PTX line, from the .loc before it; 0 when unknown.
int module_line(std::string_view ptx, int ptx_line, std::string_view file_name);

}  // namespace kw::compile
