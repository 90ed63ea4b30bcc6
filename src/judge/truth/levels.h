// Declares the chunk loops that are compiled once per x86-64 level, and selects among them.
// Internal to this module.
#pragma once

#include "truth/pointwise.h"

namespace kw::truth {

/// One block of a matrix product: A packed as [depth][rows], B as [depth][columns], C dense.
inline constexpr int kGemmRows = 6;
template <class T>
inline constexpr int kGemmColumns = static_cast<int>(64 / sizeof(T));

#define KW_ORACLE_DECLARE_LEVEL(level)                                                            \
  namespace level {                                                                               \
  /* smooth functions of one float */                                                             \
  void run_unary(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out);      \
  /* + - * /, maximum and minimum of two floats; false: another op */                             \
  bool run_binary(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count, \
                  VectorLanes& out);                                                              \
  /* adds the op's own rounding to errors in `out`; returns whether a value is 0 or leaves its */ \
  /* range */                                                                                     \
  bool add_rounding(const PointSpec& spec, int count, VectorLanes& out);                          \
  /* parts of reductions */                                                                       \
  double sum(const double* x, int count);                                                         \
  double sum_magnitudes(const double* x, int count);                                              \
  double sum_squares(const double* x, int count);                                                 \
  float sum_float(const double* x, int count);                                                    \
  double largest(const double* x, double sign, int count);                                        \
  double largest_end(const double* x, double sign, const double* e, double side, int count);      \
  /* the same with upper_end(), for values that may be infinite or NaN */                         \
  double largest_upper_end(const double* x, double sign, const double* e, int count);             \
  bool has_special(const double* x, int count); /* an infinity or NaN */                          \
  void add_columns(const double* x, int count, double* sums);                                     \
  void add_column_magnitudes(const double* x, int count, double* sums);                           \
  void add_column_squares(const double* x, int count, double* sums);                              \
  void add_columns_float(const double* x, int count, float* sums);                                \
  void store_bounds(const double* bounds, int count, float* to);                                  \
  /* c += a * b */                                                                                \
  void gemm_double(int64_t depth, const double* a, const double* b, double* c);                   \
  void gemm_float(int64_t depth, const float* a, const float* b, float* c);                       \
  }
KW_ORACLE_DECLARE_LEVEL(v2)
#ifdef KW_ONE_SIMD_LEVEL  // sanitizer builds: other levels compile too slowly
namespace v3 = v2;
namespace v4 = v2;
#else
KW_ORACLE_DECLARE_LEVEL(v3)
KW_ORACLE_DECLARE_LEVEL(v4)
#endif
#undef KW_ORACLE_DECLARE_LEVEL

struct ChunkLoops {
  void (*unary)(const PointSpec&, const ChunkOperand&, int, VectorLanes&);
  bool (*binary)(const PointSpec&, const ChunkOperand&, const ChunkOperand&, int, VectorLanes&);
  bool (*add_rounding)(const PointSpec&, int, VectorLanes&);
  double (*sum)(const double*, int);
  double (*sum_magnitudes)(const double*, int);
  double (*sum_squares)(const double*, int);
  float (*sum_float)(const double*, int);
  double (*largest)(const double*, double, int);
  double (*largest_end)(const double*, double, const double*, double, int);
  double (*largest_upper_end)(const double*, double, const double*, int);
  bool (*has_special)(const double*, int);
  void (*add_columns)(const double*, int, double*);
  void (*add_column_magnitudes)(const double*, int, double*);
  void (*add_column_squares)(const double*, int, double*);
  void (*add_columns_float)(const double*, int, float*);
  void (*store_bounds)(const double*, int, float*);
  void (*gemm_double)(int64_t, const double*, const double*, double*);
  void (*gemm_float)(int64_t, const float*, const float*, float*);
};
/// Returns the fastest version that this CPU can run.
const ChunkLoops& chunk_loops();

}  // namespace kw::truth
