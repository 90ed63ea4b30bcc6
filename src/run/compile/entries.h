// Launched names for compilers without name expressions: a variable per name, initialised with the
// kernel's address, instantiates the template and tells the symbol in the PTX. NVRTC has its own
// mechanism and does not need this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::compile {

/// The file name under which a compiler sees the appended lines; line i is kernels[i - 1].
inline constexpr const char* kEntriesFile = "kw_entries";

/// The source followed by one variable per launched name.
std::string with_entries(std::string source, const std::vector<std::string>& kernels);

/// Removes those variables from the PTX and gives the symbol of each; false when one of `count` is
/// not there.
bool take_entries(std::string* ptx, size_t count, std::vector<std::string>* entries);

}  // namespace kw::compile
