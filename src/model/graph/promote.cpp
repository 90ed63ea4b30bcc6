#include "graph/promote.h"

#include <array>

#include "core/check.h"
#include "tensor/host_tensor.h"

namespace kw::graph {

namespace {

int width(DType type) { return tensor::dtype_size(type); }

std::optional<DType> promote_floats(DType a, DType b) {
  if (is_storage_only(a) || is_storage_only(b)) return std::nullopt;
  if (width(a) == width(b)) return DType::Fp32;  // fp16 with bf16
  return width(a) > width(b) ? a : b;
}

// In PyTorch, uint8 is the only unsigned type that promotes. The wider ones are for storage.
std::optional<DType> promote_integers(DType a, DType b) {
  const auto wide = [](DType t) { return tensor::is_unsigned_int(t) && t != DType::Uint8; };
  if (wide(a) || wide(b)) return std::nullopt;
  if (a == DType::Uint8 && b == DType::Int8) return DType::Int16;
  if (a == DType::Int8 && b == DType::Uint8) return DType::Int16;
  return width(a) >= width(b) ? a : b;
}

enum class Kind { Bool, Integer, Float };
Kind kind_of(DType type) {
  if (type == DType::Bool) return Kind::Bool;
  return tensor::is_float(type) ? Kind::Float : Kind::Integer;
}

std::optional<DType> combine_two(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || kind_of(*higher) >= kind_of(*lower)) return higher;
  return try_promote(*higher, *lower);
}

}  // namespace

std::optional<DType> try_promote(DType a, DType b) {
  if (a == b) return a;
  if (kind_of(a) != kind_of(b)) {
    const DType stronger = kind_of(a) > kind_of(b) ? a : b;
    if (is_storage_only(stronger)) return std::nullopt;
    return stronger;
  }
  return kind_of(a) == Kind::Float ? promote_floats(a, b) : promote_integers(a, b);
}

DType promote(DType a, DType b) {
  const auto type = try_promote(a, b);
  KW_CHECK(type, "the caller has checked that these types meet");
  return *type;
}

std::optional<DType> combine(const Categories& categories) {
  return combine_two(categories.dimensioned, combine_two(categories.rank_0, categories.number));
}

DType opmath(DType type) {
  return tensor::is_float(type) && type != DType::Fp64 ? DType::Fp32 : type;
}

DType float_type(DType type) { return tensor::is_float(type) ? type : DType::Fp32; }

bool is_integer(DType type) { return tensor::is_signed_int(type) || tensor::is_unsigned_int(type); }

bool is_storage_only(DType type) { return tensor::is_float(type) && width(type) == 1; }

double round_to(DType type, double value) {
  auto cell = tensor::make_tensor(type, {1});
  KW_CHECK(cell, "one element always fits");
  tensor::set_element(*cell, 0, value);
  return tensor::get_element(*cell, 0);
}

Number round_to(DType type, const Number& number) {
  const bool half = type == DType::Fp16 || type == DType::Bf16;
  const bool wraps = half && !number.text.empty();
  return {round_to(type, number.value),
          wraps ? (type == DType::Fp16 ? "fp16(" : "bf16(") + number.text + ")" : number.text};
}

const char* torch_name(DType type) {
  constexpr std::array<const char*, 17> kNames = {
      "Double",           "Float",          "Half",   "BFloat16", "Float8_e4m3fn", "Float8_e5m2",
      "Float4_e2m1fn_x2", "Float8_e8m0fnu", "Long",   "Int",      "Short",         "Char",
      "UInt64",           "UInt32",         "UInt16", "Byte",     "Bool"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace kw::graph
