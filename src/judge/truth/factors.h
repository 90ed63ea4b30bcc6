// Packs the two factors of a matrix product for its inner loop: values in fp64 and terms of the
// bounds in fp32, in panels. matmul.h multiplies them.
#pragma once

#include <span>
#include <vector>

#include "truth/chunk_program.h"

namespace kw::truth {

/// One matrix of the batch, row-major.
struct Matrix {
  Tracks tracks;
  bool jumps = false;
  tensor::Large<double> t;
  tensor::Large<int64_t> i;
  tensor::Large<float> a, h, j;  // j: max(lo, hi); empty unless an element jumps
};
/// Positions of a program: rows of neighbouring elements, `stride` apart.
struct Region {
  int64_t first = 0, rows = 1, columns = 0, stride = 0;
};
/// Uses one worker per evaluator.
void read_matrix(const TruthProgram& program, std::span<TruthRunner> evaluators, Region region,
                 Matrix& to);

/// Panels of neighbouring lines (rows of the left factor, columns of the right), each stored depth
/// by depth.
template <class T>
struct Plane {
  tensor::Large<T> data;
  std::vector<double> scale;  // bounds only, per line: the power of two that it was divided by
  bool empty() const { return data.empty(); }
};

enum class Side : uint8_t { Left, Right };

/// The planes that a product needs. Its bound is a sum of products of two planes.
struct FactorNeeds {
  bool narrow = false;  // only values in fp32, for sums in declared precision
  bool bounds = false;  // the planes below, and magnitude
  bool wide = false;    // for path errors of both factors: their product counts
  bool error = false, square = false, half_square = false, cross = false;
};

/// The planes; v is an element, a and h its errors, j its jump.
struct PackedFactor {
  Plane<double> value;
  Plane<float> narrow;
  Plane<float> magnitude;       // |v|
  Plane<float> wide;            // |v| + 4 a
  Plane<float> error;           // a
  Plane<float> square;          // v^2; in the right factor (|v| + h)^2
  Plane<float> half_square;     // h^2
  Plane<float> cross;           // 2 |v| h; in the right factor (|v| + h) h
  Plane<float> jump;            // j; empty unless an element jumps
  Plane<float> reach;           // |v| + j; empty unless an element jumps
  std::vector<bool> unbounded;  // per line: whether an error is infinite
  std::vector<double> terms;    // per line: number of elements that are not certainly zero
  std::vector<double> roots;    // square roots of `terms`
};

struct FactorShape {
  Side side = Side::Left;
  int64_t lines = 0, depth = 0;
  int threads = 1;
};
void pack_factor(const Matrix& matrix, const FactorShape& shape, const FactorNeeds& needs,
                 PackedFactor& to);

}  // namespace kw::truth
