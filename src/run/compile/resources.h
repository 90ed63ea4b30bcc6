// Reads each kernel's resources from a compiler's output: ptxas' report, or the PTX text.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ports/compiler.h"

namespace kw::compile {

/// By entry symbol, from the log of `ptxas -v`.
std::map<std::string, ports::KernelResources> parse_ptxas_report(std::string_view log);

/// By entry symbol, from PTX: static shared memory it can reach, local memory, launch bounds.
/// Registers stay unknown. Works on any text; parts that it does not understand are left out.
std::map<std::string, ports::KernelResources> scan_ptx(std::string_view ptx);

}  // namespace kw::compile
