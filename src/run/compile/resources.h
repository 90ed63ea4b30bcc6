// What a compiler's output says about each kernel: ptxas' report, and what PTX text declares.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ports/compiler.h"

namespace kw::compile {

/// By entry symbol, from the log of `ptxas -v`.
std::map<std::string, ports::KernelResources> parse_ptxas_report(std::string_view log);

/// By entry symbol, from PTX: static shared memory it can reach, local depot, launch bounds.
/// Registers stay unknown. Works on any text; what is not understood is left out.
std::map<std::string, ports::KernelResources> scan_ptx(std::string_view ptx);

}  // namespace kw::compile
