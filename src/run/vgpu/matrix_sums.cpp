// The part of a matrix product that takes the time: elements as doubles, and sums of products. Every
// sum starts with the element that is there and adds its products one after the other.
#include <bit>
#include <cstring>

#include "numeric/small_float.h"
#include "vgpu/hot.h"
#include "vgpu/levels.h"

namespace kw::vgpu::KW_SIMD_LEVEL {
namespace {

using ptx::Type;

KW_LANE uint16_t half_at(const std::byte* p, int e) {
  uint16_t bits = 0;
  std::memcpy(&bits, p + 2 * e, 2);
  return bits;
}

KW_LANE uint32_t word_at(const std::byte* p, int e) {
  uint32_t bits = 0;
  std::memcpy(&bits, p + 4 * e, 4);
  return bits;
}

template <int kColumns>
KW_LANE void add_rows(const double* a, const double* b, double* sums, int rows, int depth) {
  for (int i = 0; i < rows; ++i) {
    double row[kColumns];
    for (int j = 0; j < kColumns; ++j) row[j] = sums[i * kColumns + j];
    for (int x = 0; x < depth; ++x) {
      const double left = a[i * depth + x];
      for (int j = 0; j < kColumns; ++j) row[j] = row[j] + left * b[x * kColumns + j];
    }
    for (int j = 0; j < kColumns; ++j) sums[i * kColumns + j] = row[j];
  }
}

}  // namespace

bool floats_to_doubles(Type type, const std::byte* p, int count, double* out) {
  switch (type) {
    case Type::F16:
      for (int e = 0; e < count; ++e)
        out[e] = static_cast<double>(numeric::fp16_to_float(half_at(p, e)));
      return true;
    case Type::Bf16:
      for (int e = 0; e < count; ++e)
        out[e] = static_cast<double>(numeric::bf16_to_float(half_at(p, e)));
      return true;
    case Type::F32:
      for (int e = 0; e < count; ++e)
        out[e] = static_cast<double>(std::bit_cast<float>(word_at(p, e)));
      return true;
    default:
      return false;
  }
}

bool add_products(const double* a, const double* b, double* sums, const MatrixShape& shape) {
  switch (shape.columns) {
    case 8:
      add_rows<8>(a, b, sums, shape.rows, shape.depth);
      return true;
    case 16:
      add_rows<16>(a, b, sums, shape.rows, shape.depth);
      return true;
    case 32:
      add_rows<32>(a, b, sums, shape.rows, shape.depth);
      return true;
    default:
      return false;
  }
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
