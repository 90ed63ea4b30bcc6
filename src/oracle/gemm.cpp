// A small block of a matrix product, with the sums in registers: kGemmRows rows of packed A times
// packed columns of B.
#include "oracle/levels.h"

namespace kw::oracle::KW_SIMD_LEVEL {

namespace {

template <class T, int kRows, int kColumns>
void block(int64_t depth, const T* a, const T* b, T* c) {
  T sums[kRows][kColumns] = {};
  for (int64_t k = 0; k < depth; ++k) {
    for (int i = 0; i < kRows; ++i) {
      const T x = a[k * kRows + i];
      for (int j = 0; j < kColumns; ++j) sums[i][j] += x * b[k * kColumns + j];
    }
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) c[i * kColumns + j] += sums[i][j];
}

}  // namespace

void gemm_double(int64_t depth, const double* a, const double* b, double* c) {
  block<double, kGemmRows, kGemmColumns<double>>(depth, a, b, c);
}
void gemm_float(int64_t depth, const float* a, const float* b, float* c) {
  block<float, kGemmRows, kGemmColumns<float>>(depth, a, b, c);
}

}  // namespace kw::oracle::KW_SIMD_LEVEL
