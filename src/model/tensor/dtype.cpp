#include "tensor/dtype.h"

#include <array>

namespace kw::tensor {

namespace {

enum class Class { Float, Signed, Unsigned, Bool };

struct Row {
  DType type;
  const char* name;
  int size;
  Class kind;
};

constexpr std::array<Row, 17> kRows = {{
    {DType::Fp64, "fp64", 8, Class::Float},
    {DType::Fp32, "fp32", 4, Class::Float},
    {DType::Fp16, "fp16", 2, Class::Float},
    {DType::Bf16, "bf16", 2, Class::Float},
    {DType::Fp8e4m3, "fp8e4m3", 1, Class::Float},
    {DType::Fp8e5m2, "fp8e5m2", 1, Class::Float},
    {DType::Fp4e2m1x2, "fp4e2m1x2", 1, Class::Float},
    {DType::E8m0, "e8m0", 1, Class::Float},
    {DType::Int64, "int64", 8, Class::Signed},
    {DType::Int32, "int32", 4, Class::Signed},
    {DType::Int16, "int16", 2, Class::Signed},
    {DType::Int8, "int8", 1, Class::Signed},
    {DType::Uint64, "uint64", 8, Class::Unsigned},
    {DType::Uint32, "uint32", 4, Class::Unsigned},
    {DType::Uint16, "uint16", 2, Class::Unsigned},
    {DType::Uint8, "uint8", 1, Class::Unsigned},
    {DType::Bool, "bool", 1, Class::Bool},
}};

const Row& row(DType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

const char* dtype_name(DType type) { return row(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& r : kRows) {
    if (name == r.name) return r.type;
  }
  return std::nullopt;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Row& r : kRows) names.emplace_back(r.name);
  return names;
}

int dtype_size(DType type) { return row(type).size; }
bool is_float(DType type) { return row(type).kind == Class::Float; }
bool is_signed_int(DType type) { return row(type).kind == Class::Signed; }
bool is_unsigned_int(DType type) { return row(type).kind == Class::Unsigned; }

}  // namespace kw::tensor
