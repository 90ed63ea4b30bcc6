// A launch plan binds tensors to kernel parameters, whose types the compiler reports as demangled
// names. This source maps such a name to element kind, width, lanes and alignment. Names like
// "float4" follow a pattern, base type plus number of lanes, so they are parsed. All other names
// are rows of a table. A full C++ type parser is not needed: unknown names give no type, and the
// caller decides. The cost: typedefs and structs of a module are unknown here.
#include "cuda_source/cuda_types.h"

#include <algorithm>
#include <array>

namespace kw::cuda_source {

namespace {

using tensor::DType;
using Kind = CudaType::Kind;

struct Row {
  std::string_view name;
  Kind kind;
  DType dtype;
  int lanes;
};

// Types whose names do not follow the pattern "base + number of lanes" of the built-in vectors.
constexpr std::array kPlain = {
    Row{"double", Kind::Float, DType::Fp64, 1},
    Row{"float", Kind::Float, DType::Fp32, 1},
    Row{"__half", Kind::Float, DType::Fp16, 1},
    Row{"__half_raw", Kind::Float, DType::Fp16, 1},
    Row{"__half2", Kind::Float, DType::Fp16, 2},
    Row{"__half2_raw", Kind::Float, DType::Fp16, 2},
    Row{"_Float16", Kind::Float, DType::Fp16, 1},
    Row{"__nv_bfloat16", Kind::Float, DType::Bf16, 1},
    Row{"__nv_bfloat16_raw", Kind::Float, DType::Bf16, 1},
    Row{"__nv_bfloat162", Kind::Float, DType::Bf16, 2},
    Row{"__nv_bfloat162_raw", Kind::Float, DType::Bf16, 2},
    Row{"__bf16", Kind::Float, DType::Bf16, 1},
    Row{"__nv_fp8_e4m3", Kind::Float, DType::Fp8e4m3, 1},
    Row{"__nv_fp8x2_e4m3", Kind::Float, DType::Fp8e4m3, 2},
    Row{"__nv_fp8x4_e4m3", Kind::Float, DType::Fp8e4m3, 4},
    Row{"__nv_fp8_e5m2", Kind::Float, DType::Fp8e5m2, 1},
    Row{"__nv_fp8x2_e5m2", Kind::Float, DType::Fp8e5m2, 2},
    Row{"__nv_fp8x4_e5m2", Kind::Float, DType::Fp8e5m2, 4},
    Row{"__nv_fp8_e8m0", Kind::Float, DType::E8m0, 1},
    Row{"__nv_fp8x2_e8m0", Kind::Float, DType::E8m0, 2},
    Row{"__nv_fp8x4_e8m0", Kind::Float, DType::E8m0, 4},
    Row{"__nv_fp4x2_e2m1", Kind::Float, DType::Fp4e2m1x2, 1},
    Row{"__nv_fp4x4_e2m1", Kind::Float, DType::Fp4e2m1x2, 2},
    Row{"long", Kind::Signed, DType::Int64, 1},
    Row{"long long", Kind::Signed, DType::Int64, 1},
    Row{"int", Kind::Signed, DType::Int32, 1},
    Row{"short", Kind::Signed, DType::Int16, 1},
    Row{"char", Kind::Signed, DType::Int8, 1},
    Row{"signed char", Kind::Signed, DType::Int8, 1},
    Row{"unsigned long", Kind::Unsigned, DType::Uint64, 1},
    Row{"unsigned long long", Kind::Unsigned, DType::Uint64, 1},
    Row{"unsigned int", Kind::Unsigned, DType::Uint32, 1},
    Row{"unsigned short", Kind::Unsigned, DType::Uint16, 1},
    Row{"unsigned char", Kind::Unsigned, DType::Uint8, 1},
    Row{"bool", Kind::Bool, DType::Bool, 1},
};

constexpr std::array kVectorBases = {
    Row{"double", Kind::Float, DType::Fp64, 1},
    Row{"float", Kind::Float, DType::Fp32, 1},
    Row{"longlong", Kind::Signed, DType::Int64, 1},
    Row{"long", Kind::Signed, DType::Int64, 1},
    Row{"int", Kind::Signed, DType::Int32, 1},
    Row{"short", Kind::Signed, DType::Int16, 1},
    Row{"char", Kind::Signed, DType::Int8, 1},
    Row{"ulonglong", Kind::Unsigned, DType::Uint64, 1},
    Row{"ulong", Kind::Unsigned, DType::Uint64, 1},
    Row{"uint", Kind::Unsigned, DType::Uint32, 1},
    Row{"ushort", Kind::Unsigned, DType::Uint16, 1},
    Row{"uchar", Kind::Unsigned, DType::Uint8, 1},
};

// In the order of enum DType.
constexpr std::array<const char*, 17> kCudaNames = {"double",
                                                    "float",
                                                    "__half",
                                                    "__nv_bfloat16",
                                                    "__nv_fp8_e4m3",
                                                    "__nv_fp8_e5m2",
                                                    "__nv_fp4x2_e2m1",
                                                    "__nv_fp8_e8m0",
                                                    "long long",
                                                    "int",
                                                    "short",
                                                    "signed char",
                                                    "unsigned long long",
                                                    "unsigned int",
                                                    "unsigned short",
                                                    "unsigned char",
                                                    "bool"};
static_assert(kCudaNames.size() == static_cast<size_t>(DType::Bool) + 1);

CudaType make(const Row& row, int lanes) {
  CudaType type;
  type.kind = row.kind;
  type.dtype = row.dtype;
  type.size = tensor::dtype_size(row.dtype);
  type.lanes = lanes;
  // Vectors of three lanes are aligned like one lane. Alignment is at most 16 unless the name says
  // otherwise.
  type.align = lanes == 3 ? type.size : std::min(type.size * lanes, 16);
  return type;
}

std::optional<CudaType> find_vector(std::string_view name) {
  const bool aligned16 = name.ends_with("_16a"), aligned32 = name.ends_with("_32a");
  if (aligned16 || aligned32) name.remove_suffix(4);
  for (const Row& row : kVectorBases) {
    if (!name.starts_with(row.name) || name.size() != row.name.size() + 1) continue;
    const char lanes = name.back();
    if (lanes < '1' || lanes > '4') return std::nullopt;
    CudaType type = make(row, lanes - '0');
    if (aligned32) type.align = 32;
    return type;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CudaType> find_cuda_type(std::string_view name) {
  if (name == "void") return CudaType{};
  if (name == "std::byte" || name == "cuda::std::byte") {
    return CudaType{Kind::Byte, DType::Uint8, 1, 1, 1};
  }
  for (const Row& row : kPlain) {
    if (row.name == name) return make(row, row.lanes);
  }
  return find_vector(name);
}

bool may_point_to(const CudaType& pointee, DType dtype) {
  if (pointee.kind == Kind::Void || pointee.kind == Kind::Byte) return true;
  if (pointee.dtype == dtype) return true;
  const bool integer = pointee.kind == Kind::Signed || pointee.kind == Kind::Unsigned;
  if (!integer) return false;
  if (tensor::is_float(dtype) && pointee.size == tensor::dtype_size(dtype)) return true;
  if (dtype == DType::Bool && pointee.dtype == DType::Uint8) return true;
  const int bytes = pointee.size * pointee.lanes;
  return pointee.lanes >= 2 && pointee.size >= 4 && (bytes == 8 || bytes == 16);
}

const char* cuda_name(DType dtype) { return kCudaNames[static_cast<size_t>(dtype)]; }

}  // namespace kw::cuda_source
