// Makes PTX depend only on its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::compile {

/// Removes folders of this machine from .file: the module's name alone, headers relative to
/// `header_folders`. Removes process numbers from names with internal linkage, in code and in
/// .debug_str. `names` (entry symbols) are changed the same way. Whole identifiers are renamed, and
/// only when no two become equal. All other bytes stay the same.
std::string normalise_ptx(std::string_view ptx, std::string_view file_name,
                          const std::vector<std::string>& header_folders,
                          std::vector<std::string>* names);

}  // namespace kw::compile
