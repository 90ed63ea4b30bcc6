// The CUDA C++ forms of dtypes: in memory, in registers, and conversions between them.
#pragma once

#include <string>

#include "text/graph_names.h"

namespace kw::generate {

/// The element type of pointers: "__half", "long long". fp4 pairs and e8m0 are bytes.
const char* memory_type(DType dtype);
/// The type of computations: float for floats below fp64; integers keep their type.
const char* register_type(DType dtype);
/// "__half2float(x)": converts an element of memory_type to a register value.
std::string from_memory(DType dtype, const std::string& element);
/// "__float2half(x)": rounds a register value to memory_type.
std::string to_memory(DType dtype, const std::string& value);
/// The header that an element type needs: "cuda_fp16.h" or "".
const char* header_of(DType dtype);

/// Whether it is computed as fp32: fp32 itself, the half types, fp8 and e8m0.
bool in_float(DType dtype);
/// Whether it is a float of any width.
bool is_floating(DType dtype);
bool is_half(DType dtype);
bool is_integer(DType dtype);  // bool is not one

/// "0.1f", "1e-12", "-7LL", "true".
std::string literal(DType dtype, double number, int64_t integer);

}  // namespace kw::generate
