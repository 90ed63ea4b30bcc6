// What a cubin says about its kernels that ptxas does not print: the launch bounds in its .nv.info
// sections.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kw::compile {

/// Most threads per block, by entry symbol; kernels without launch bounds are left out. Any bytes
/// are safe to give.
std::map<std::string, int> launch_bounds_of(std::string_view cubin);

}  // namespace kw::compile
