// The element types of CUDA code, by their demangled names, and the dtypes each can hold. Internal.
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

/// Finds "float4", "__half", "unsigned long", …; not set for structs, enums and unknown names.
std::optional<CudaType> find_cuda_type(std::string_view name);

/// True when a pointer to this type may receive a tensor of that dtype. Allowed are the same type,
/// a vector of it, and void. A floating dtype may also use an integer of the same width. Integer
/// vectors of 8 and 16 bytes may hold any dtype.
bool may_point_to(const CudaType& pointee, tensor::DType dtype);

/// The name of a dtype in CUDA code: "__half".
const char* cuda_name(tensor::DType dtype);

}  // namespace kw::cuda_source
