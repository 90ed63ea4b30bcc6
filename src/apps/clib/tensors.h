// What a caller's tensor must be for a buffer of a plan: place, dtype, shape, strides, alignment.
// Every refusal is an input Error that says what would do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "clib/kernelwright.h"
#include "core/result.h"
#include "kernel/program.h"

namespace kw::clib {

/// Where a plan's tensors lie.
struct Room {
  bool cuda = false;
  int ordinal = 0;
  std::string text() const;  // "cuda:0", "the CPU"
};

/// Checks one tensor that is not scratch. Host tensors need no alignment: they are copied.
Status check_tensor(const kernel::Buffer& buffer, const kw_tensor& given, const Room& room);
/// Scratch is bytes in the right place, aligned, and enough of them.
Status check_scratch(const kernel::Buffer& buffer, const kw_tensor& given, const Room& room);

/// The first byte.
inline std::byte* address_of(const kw_tensor& tensor) {
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace kw::clib
