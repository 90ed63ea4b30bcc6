// Element types of tensors and scalars, with the names that kernel modules use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::tensor {

enum class DType : uint8_t {
  Fp64, Fp32, Fp16, Bf16, Fp8e4m3, Fp8e5m2, Fp4e2m1x2, E8m0,
  Int64, Int32, Int16, Int8, Uint64, Uint32, Uint16, Uint8, Bool,
};

/// "fp16", "int64", "bool", …
const char* dtype_name(DType type);
std::optional<DType> dtype_from_name(std::string_view name);
std::vector<std::string> dtype_names();

/// Bytes of one storage element. fp4e2m1x2 holds two values in its one byte.
int dtype_size(DType type);
bool is_float(DType type);
bool is_signed_int(DType type);
bool is_unsigned_int(DType type);  // all three are false for bool

}  // namespace kw::tensor
