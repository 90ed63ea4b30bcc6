// A compiler's log as messages with the module's own lines. Knows the dialects of NVRTC, nvcc,
// ptxas and clang.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

/// Errors first come as the compiler printed them; remarks, repetitions and our own helper lines
/// are dropped. What a header complains about has line 0 unless the log says which module line led
/// there. `file_name` is the module's.
/// Complaints about the lines with_entries() added speak of `kernels`.
std::vector<ports::CompileMessage> parse_log(std::string_view log, std::string_view file_name,
                                             const std::vector<std::string>& kernels = {});

/// A name that every compiler takes, between quotes in `#line` too: what cannot stand there is
/// replaced by '_'.
std::string quotable(std::string file_name);

/// " (it comes with …: pip install …)" for a header that could not be opened, or "".
std::string header_hint(std::string_view header);

/// The mangled C++ name in readable form; the name itself when it is not mangled.
std::string demangle(const std::string& symbol);
/// Every mangled name in a text replaced by its readable form.
std::string demangle_all(std::string_view text);

/// The module line behind a line of PTX, by the .loc before it; 0 when unknown.
int module_line(std::string_view ptx, int ptx_line, std::string_view file_name);

}  // namespace kw::compile
