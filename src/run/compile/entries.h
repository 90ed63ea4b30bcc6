// Finds the symbols of launched kernels for compilers without name expressions. One variable per
// name, initialised with the kernel's address, instantiates the template and shows its symbol in
// the PTX. NVRTC has its own mechanism and does not need this.
#pragma once

#include <string>
#include <vector>

namespace kw::compile {

/// The file name of the appended lines for the compiler; line i is kernels[i - 1].
inline constexpr const char* kEntriesFile = "kw_entries";

/// The source followed by one variable per launched name.
std::string with_entries(std::string source, const std::vector<std::string>& kernels);

/// Removes those variables from the PTX and returns the symbol of each. False when one of `count`
/// is missing.
bool take_entries(std::string* ptx, size_t count, std::vector<std::string>* entries);

}  // namespace kw::compile
