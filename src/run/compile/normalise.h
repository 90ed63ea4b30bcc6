// PTX that depends on nothing but its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::compile {

/// No folder of this machine in .file (the module's name alone, headers as they are included from
/// `header_folders`), no process number in the names of things with internal linkage, in the code
/// and in .debug_str. `names` (entry symbols) are changed alike. Whole identifiers are renamed, and
/// only when no two of them become one; all else stays as it is, byte for byte.
std::string normalise_ptx(std::string_view ptx, std::string_view file_name,
                          const std::vector<std::string>& header_folders,
                          std::vector<std::string>* names);

}  // namespace kw::compile
