// Reads facts about kernels from a cubin that ptxas does not print: the launch bounds in its
// .nv.info sections.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kw::compile {

/// The most threads per block, by entry symbol; kernels without launch bounds are left out. Safe
/// for arbitrary bytes.
std::map<std::string, int> launch_bounds_of(std::string_view cubin);

}  // namespace kw::compile
