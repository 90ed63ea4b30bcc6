// Where tunables enter the text a compiler sees: behind the last include, so that a precompiled
// header still hits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw::kernel {

struct InjectionPoint {
  size_t offset =
      0;  // of the first byte behind the last include (and the #endif that ends its conditional)
  int line = 1;              // number of the line that starts there
  bool has_include = false;  // false: the point is the start of the text
};

InjectionPoint find_injection(std::string_view text);

/// The text with `#define NAME VALUE` for each pair at the injection point (INFINITY and NAN too), `#pragma nv_hdrstop`
/// before them when asked for and when there is an include, and a `#line` that keeps the lines
/// behind it right. In `#pragma unroll` the numbers themselves stand. `file_name` is what `#line` says.
std::string inject_defines(std::string_view text,
                           const std::vector<std::pair<std::string, int64_t>>& defines,
                           bool hdrstop, std::string_view file_name);

}  // namespace kw::kernel
