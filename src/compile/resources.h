// What a compiler's output says about each kernel: ptxas' report, and what PTX text declares.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/compiler.h"

namespace kw::compile {

/// By entry symbol, from the log of `ptxas -v`.
std::map<std::string, exec::KernelResources> parse_ptxas_report(std::string_view log);

/// By entry symbol, from PTX: static shared memory it can reach, local depot, launch bounds.
/// Registers stay unknown. Works on any text; what is not understood is left out.
std::map<std::string, exec::KernelResources> scan_ptx(std::string_view ptx);

/// PTX that depends on nothing but its source: no folder of this machine in .file (the module's
/// name alone, headers as they are included from `header_folders`), no process number in the names
/// of things with internal linkage. `names` (entry symbols) are changed alike.
std::string normalise_ptx(std::string ptx, std::string_view file_name,
                          const std::vector<std::string>& header_folders,
                          std::vector<std::string>* names);

}  // namespace kw::compile
