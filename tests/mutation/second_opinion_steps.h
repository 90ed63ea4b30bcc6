// The parts of the second interpreter: one node with its operands, the functions that compute each
// kind of op, and the few rules of numbers and places that they share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "second_opinion.h"

namespace kw::mutation {

using Real = long double;
using Extents = std::vector<int64_t>;
using graph::Op;
using tensor::DType;
static_assert(std::numeric_limits<Real>::digits >= 64, "every 64-bit integer must be exact");

enum class Arithmetic { Wide, Declared };

/// One node whose operands are known.
struct Step {
  const graph::Node& node;
  std::vector<const WideTensor*> in;
  Arithmetic arithmetic;

  const WideTensor& x() const { return *in[0]; }
  /// The first of the node's dims.
  size_t dim() const { return static_cast<size_t>(node.attrs.dims[0]); }
  /// An input Error that names the op.
  Error refuse(const std::string& why) const;
};

// One function per kind of op. An op of the kind that the function does not know is an input Error.
Result<WideTensor> constant_or_count(const Step& step);  // Constant, Iota, Philox
Result<WideTensor> point(const Step& step);
Result<WideTensor> point_of_integers(const Step& step);  // pointwise; operands are integers or bool
Result<WideTensor> reduction(const Step& step);
Result<WideTensor> scan(const Step& step);
Result<WideTensor> selection(const Step& step);  // sorts and top-k
Result<WideTensor> product_of_matrices(const Step& step);
Result<WideTensor> movement(const Step& step);
Result<WideTensor> fold(const Step& step);
Result<WideTensor> scatter(const Step& step);

// Functions that C does not have, to about 1e-18 of the result or of 1.
Real inverse_erf(Real x);
Real scaled_erfc(Real x);  // exp(x²) erfc(x)
Real psi(Real x);          // digamma

// --- numbers ------------------------------------------------------------------------------------

/// Whether elements of this type are integers: true for bool too.
bool is_whole(DType type);
/// The bits that fit the integer type, extended by its sign; bool: 0 or 1.
int64_t low_bits(DType type, int64_t bits);
Real real_of(DType type, int64_t bits);
/// Towards zero. Values beyond int64 become its ends before the type's bits are kept; NaN gives 0
/// (true for bool).
int64_t whole_of(DType type, Real x);
/// Rounded to what kernels compute in: double for fp64, otherwise float.
Real working(DType type, Real x);
/// Rounded to what a tensor of this float type holds, by way of working(). Beyond its range:
/// infinity, or NaN where the type has no infinity.
Real stored(DType type, Real x);
/// A chain's next value: working() in the declared arithmetic.
Real chained(const Step& step, Real x);

// --- tensors ------------------------------------------------------------------------------------

/// The tensor of an input; packed types are an input Error.
Result<WideTensor> read_tensor(const tensor::HostTensor& tensor);
/// A tensor of the node's dtype and shape, filled with zeros.
WideTensor zeros_of(const Step& step);
/// Writes an integer element and its copy in `value`. Keeps the low bits.
void set_integer(WideTensor& tensor, int64_t at, int64_t bits);
void copy_element(const WideTensor& from, int64_t source, WideTensor& to, int64_t target);

int64_t count_of(const Extents& shape);
int64_t place_of(const Extents& shape, const Extents& at);

/// An input Error if an index of the second operand lies outside of the first one's dim.
Status check_index(const Step& step);

/// Calls visit(position, coordinates) for every element in row-major order.
template <class Visit>
void for_each_element(const Extents& shape, Visit visit) {
  Extents at(shape.size(), 0);
  const int64_t count = count_of(shape);
  for (int64_t position = 0; position < count; ++position) {
    visit(position, at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

/// All lines of a shape along one dim: where each starts, and the distance of its elements.
struct Lines {
  std::vector<int64_t> starts;
  int64_t length = 0, stride = 1;
};
Lines lines_along(const Extents& shape, size_t dim);

/// A sum or product in the arithmetic of the run, one term after the other.
class Chain {
 public:
  Chain(const Step& step, bool multiplies);
  void take(const WideTensor& x, int64_t at);
  /// Takes the product of two elements.
  void take(const WideTensor& x, int64_t x_at, const WideTensor& z, int64_t z_at);
  void write(WideTensor& out, int64_t at) const;

 private:
  void join(Real x, uint64_t bits);
  const Step* step_;
  bool multiplies_;
  Real sum_;
  uint64_t bits_;  // the sum of integers, modulo 2^64
};

}  // namespace kw::mutation
