// Computes a small block of a matrix product with its sums in registers: rows of packed A times one
// cache line of columns of packed B.
#include <cstring>

#include "truth/levels.h"

namespace kw::truth::KW_SIMD_LEVEL {

namespace {

// The compiler keeps arrays of vectors in registers, but not arrays of numbers.
template <class T>
void block(int64_t depth, const T* a, const T* b, T* c) {
  typedef T Line __attribute__((vector_size(64)));
  constexpr int kColumns = kGemmColumns<T>;
  Line sums[kGemmRows] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Line line;
    std::memcpy(&line, b + k * kColumns, sizeof(line));
    const T* x = a + k * kGemmRows;
    sums[0] += x[0] * line;
    sums[1] += x[1] * line;
    sums[2] += x[2] * line;
    sums[3] += x[3] * line;
    sums[4] += x[4] * line;
    sums[5] += x[5] * line;
  }
  static_assert(kGemmRows == 6);
  for (int i = 0; i < kGemmRows; ++i)
    for (int j = 0; j < kColumns; ++j) c[i * kColumns + j] += sums[i][j];
}

}  // namespace

void gemm_double(int64_t depth, const double* a, const double* b, double* c) {
  block(depth, a, b, c);
}
void gemm_float(int64_t depth, const float* a, const float* b, float* c) { block(depth, a, b, c); }

}  // namespace kw::truth::KW_SIMD_LEVEL
