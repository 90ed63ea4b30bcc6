// Inserts tunables into the text for a compiler: after the last include, so that a precompiled
// header can still be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw::kernel {

struct InjectionPoint {
  size_t offset = 0;         // after the last include (and the #endif of its conditional)
  int line = 1;              // line number at that offset
  bool has_include = false;  // false: the point is the start of the text
};

InjectionPoint find_injection(std::string_view text);

/// The text with `#define NAME VALUE` for each pair at the injection point; INFINITY and NAN are
/// defined too. If asked for and if there is an include, `#pragma nv_hdrstop` comes before them. A
/// `#line` with `file_name` keeps the following line numbers right. In `#pragma unroll`, tunables
/// are replaced by their numbers.
std::string inject_defines(std::string_view text,
                           const std::vector<std::pair<std::string, int64_t>>& defines,
                           bool hdrstop, std::string_view file_name);

}  // namespace kw::kernel
