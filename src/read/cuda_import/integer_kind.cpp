// Integer types as tables of width and sign.
#include "cuda_import/integer_kind.h"

#include <algorithm>

namespace kw::cuda_import {
namespace {

constexpr int64_t kUsualSigned = 2147000000, kUsualUnsigned = 4294000000;

}  // namespace

std::optional<IntKind> integer_kind(const CType& type) {
  if (type.pointers > 0 || !type.dtype || tensor::dtype_size(*type.dtype) != type.size)
    return std::nullopt;
  switch (*type.dtype) {
    case tensor::DType::Bool:
      return IntKind::Bool;
    case tensor::DType::Int8:
      return IntKind::I8;
    case tensor::DType::Uint8:
      return IntKind::U8;
    case tensor::DType::Int16:
      return IntKind::I16;
    case tensor::DType::Uint16:
      return IntKind::U16;
    case tensor::DType::Int32:
      return IntKind::I32;
    case tensor::DType::Uint32:
      return IntKind::U32;
    case tensor::DType::Int64:
      return IntKind::I64;
    case tensor::DType::Uint64:
      return IntKind::U64;
    default:
      return std::nullopt;
  }
}

const char* kind_name(IntKind kind) {
  constexpr const char* kNames[] = {"bool",         "signed char",    "unsigned char",
                                    "short",        "unsigned short", "int",
                                    "unsigned int", "long long",      "size_t"};
  return kNames[static_cast<size_t>(kind)];
}

int bits_of(IntKind kind) {
  constexpr int kBits[] = {1, 8, 8, 16, 16, 32, 32, 64, 64};
  return kBits[static_cast<size_t>(kind)];
}

bool is_unsigned(IntKind kind) {
  return kind == IntKind::Bool || kind == IntKind::U8 || kind == IntKind::U16 ||
         kind == IntKind::U32 || kind == IntKind::U64;
}

int64_t lowest(IntKind kind) { return is_unsigned(kind) ? 0 : INT64_MIN >> (64 - bits_of(kind)); }

int64_t highest(IntKind kind) {
  if (bits_of(kind) == 64) return INT64_MAX;
  const int bits = is_unsigned(kind) ? bits_of(kind) : bits_of(kind) - 1;
  return (int64_t{1} << bits) - 1;
}

int64_t usual_least(IntKind kind) { return kind == IntKind::I32 ? -kUsualSigned : lowest(kind); }

int64_t usual_most(IntKind kind) {
  if (kind == IntKind::I32) return kUsualSigned;
  return kind == IntKind::U32 ? kUsualUnsigned : highest(kind);
}

IntKind promoted(IntKind kind) { return bits_of(kind) < 32 ? IntKind::I32 : kind; }

IntKind common_kind(IntKind a, IntKind b) {
  // In the order of the enumeration, the later of two promoted types is the common one.
  return std::max(promoted(a), promoted(b));
}

std::optional<int64_t> wrapped(int64_t value, IntKind kind) {
  if (kind == IntKind::Bool) return value != 0;
  const int bits = bits_of(kind);
  if (bits == 64) {
    if (kind == IntKind::U64 && value < 0) return std::nullopt;
    return value;
  }
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  const auto out = static_cast<int64_t>(low);
  return out > highest(kind) ? out - (int64_t{1} << bits) : out;
}

}  // namespace kw::cuda_import
