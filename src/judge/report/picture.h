// Draws the place of an element in a buffer: the buffer as a bar, the element as a caret under or
// beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/program.h"

namespace kw::report {

/// Three lines for one element of a buffer. The element may lie outside.
///   x: fp16[4, 1024], 4096 elements
///     [################################]   ^
///      0                           4095    4096: 1 past the end
std::string buffer_picture(const kernel::Buffer& buffer, int64_t element);

/// "x[2, 17]" for an element inside a contiguous buffer, "x[4096]" otherwise.
std::string element_name(const kernel::Buffer& buffer, int64_t element);

}  // namespace kw::report
