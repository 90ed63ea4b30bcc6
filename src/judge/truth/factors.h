// The two factors of a matrix product as its inner loop wants them: values in fp64 and what bounds
// are made of in fp32, in panels. Multiplying them is matmul.h's business.
#pragma once

#include <span>
#include <vector>

#include "truth/program.h"

namespace kw::truth {

/// One matrix of the batch, row-major.
struct Matrix {
  Tracks tracks;
  bool jumps = false;
  tensor::Large<double> t;
  tensor::Large<int64_t> i;
  tensor::Large<float> a, h, j;  // j: the larger of lo and hi; empty unless something jumps
};
/// Which positions of a program: rows of neighbours, `stride` apart.
struct Region {
  int64_t first = 0, rows = 1, columns = 0, stride = 0;
};
/// By as many workers as there are evaluators.
void read_matrix(const Program& program, std::span<Evaluator> evaluators, Region region,
                 Matrix& to);

/// Panels of neighbouring lines (rows of the left factor, columns of the right), each stored depth
/// by depth.
template <class T>
struct Plane {
  tensor::Large<T> data;
  std::vector<double> scale;  // bounds only, per line: a power of two that was divided by
  bool empty() const { return data.empty(); }
};

enum class Side : uint8_t { Left, Right };

/// Which planes are asked for. The bound of a product is made of products of two.
struct FactorNeeds {
  bool narrow = false;  // values in fp32 alone, as declared precision sums them
  bool bounds = false;  // what follows, and magnitude
  bool wide = false;    // with path errors: those of the other factor multiply it
  bool error = false, square = false, half_square = false, cross = false;
};

/// For every element v with errors a, h and jump j.
struct PackedFactor {
  Plane<double> value;
  Plane<float> narrow;
  Plane<float> magnitude;       // |v|
  Plane<float> wide;            // |v| + 4 a
  Plane<float> error;           // a
  Plane<float> square;          // v^2, of the right factor (|v| + h)^2
  Plane<float> half_square;     // h^2
  Plane<float> cross;           // 2 |v| h, of the right factor (|v| + h) h
  Plane<float> jump;            // j; empty unless something jumps
  Plane<float> reach;           // |v| + j; the same
  std::vector<bool> unbounded;  // per line: an error is infinite
  std::vector<double> terms;    // per line: elements that are not certainly zero
  std::vector<double> roots;    // of them
};

struct FactorShape {
  Side side = Side::Left;
  int64_t lines = 0, depth = 0;
  int threads = 1;
};
void pack_factor(const Matrix& matrix, const FactorShape& shape, const FactorNeeds& needs,
                 PackedFactor& to);

}  // namespace kw::truth
