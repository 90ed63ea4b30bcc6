// Checks a caller's tensor against a buffer of a plan: place, dtype, shape, strides, alignment. A
// refusal is an input Error that says what is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "clib/kernelwright.h"
#include "core/result.h"
#include "kernel/program.h"

namespace kw::clib {

/// Where a plan's tensors must be.
struct TensorPlace {
  bool cuda = false;
  int ordinal = 0;
  std::string text() const;  // "cuda:0", "the CPU"
};

/// Checks one tensor that is not scratch. Host tensors need no alignment: they are copied.
Status check_tensor(const kernel::Buffer& buffer, const kw_tensor& given, const TensorPlace& place);
/// Scratch must be bytes in the right place, aligned, and large enough.
Status check_scratch(const kernel::Buffer& buffer, const kw_tensor& given,
                     const TensorPlace& place);

/// The first byte.
inline std::byte* address_of(const kw_tensor& tensor) {
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace kw::clib
