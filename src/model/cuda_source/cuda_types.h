// The element types CUDA code uses, by their demangled names, and which dtype each can stand for.
// Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace kw::cuda_source {

struct CudaType {
  enum class Kind : uint8_t { Void, Signed, Unsigned, Bool, Float, Byte } kind = Kind::Void;
  tensor::DType dtype = tensor::DType::Fp32;  // of one lane; for Float and integers
  int size = 1;                               // bytes of one lane
  int lanes = 1;                              // 4 for float4
  int align = 1;                              // bytes
};

/// "float4", "__half", "unsigned long", …; nothing for structs, enums and whatever else is not
/// known.
std::optional<CudaType> find_cuda_type(std::string_view name);

/// True when a pointer to this type may be given a tensor of that dtype: the same type, a vector of
/// it, void, or, for floating types, an integer of the same width; 8- and 16-byte integer vectors
/// may carry anything.
bool may_point_to(const CudaType& pointee, tensor::DType dtype);

/// What a dtype is called in CUDA code: "__half".
const char* cuda_name(tensor::DType dtype);

}  // namespace kw::cuda_source
