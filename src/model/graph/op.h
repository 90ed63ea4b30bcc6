// The primitive operations of a graph. Everything else PyTorch offers is composed of these by the
// builder, so interpreters, error bounds, derivatives and code generators know this list only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw::graph {

enum class Op : uint8_t {
  // sources
  Input,     // attrs.integer: which parameter
  Constant,  // attrs.number (floats) or attrs.integer; rank 0. The number is what PyTorch's kernel
             // gets: fp32 precision under a half dtype, never rounded again. attrs.starts[0], where
             // present: the same value as it follows from the dims
  Iota,      // 0, 1, 2 … along attrs.dims[0], the same in all other dims
  Philox,    // inputs seed, offset (int64, rank 0): uniform fp32 in [0, 1), see docs/graph.md
  // pointwise, one input
  Cast,  // to the node's dtype; the truth does not round here, the declared precision does
  Neg,
  Abs,
  Sign,
  Floor,
  Ceil,
  Trunc,
  Round,  // Round: half to even
  Sqrt,
  Rsqrt,
  Reciprocal,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc,
  Erfinv,
  Lgamma,
  Digamma,
  Sigmoid,
  Not,  // logical on bool, bitwise on integers
  IsNan,
  IsInf,
  // pointwise, two inputs of one shape and dtype
  Add,
  Sub,
  Mul,
  Div,
  Pow,
  Atan2,
  Fmod,
  Remainder,
  FloorDiv,
  Copysign,
  Hypot,
  Maximum,
  Minimum,  // NaN wins
  Fmax,
  Fmin,  // NaN loses
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,  // to bool
  And,
  Or,
  Xor,  // logical on bool, bitwise on integers
  ShiftLeft,
  ShiftRight,
  // pointwise, three inputs
  Where,  // bool, x, y
  // reductions over attrs.dims; the result keeps the rank, reduced extents become 1
  Sum,
  Prod,
  Max,
  Min,
  ArgMax,
  ArgMin,  // Arg*: one dim, int64, the first of equals, NaN wins
  // scans along attrs.dims[0]; attrs.reverse, attrs.exclusive
  CumSum,
  CumProd,
  CumMax,
  CumMin,
  CumMaxIndex,
  CumMinIndex,   // *Index: int64, the last of equals
  CumLogSumExp,  // floats: log of the sum of exp
  // selection along attrs.dims[0]; attrs.descending; extent of the result = how many
  SortValues,
  SortIndices,  // stable
  TopKValues,
  TopKIndices,  // attrs.descending: the largest; sorted, ties in any order. NaN is above all
                // numbers
  // contraction: [..., M, K] x [..., K, N], equal batch extents
  MatMul,
  // movement: exact
  Reshape,
  Permute,
  Expand,  // Permute: attrs.dims; Expand: dims aligned at the end, missing ones and extents 1 grow
  Slice,   // attrs.starts, attrs.steps per dim (steps > 0)
  Pad,     // attrs.starts: how many in front, per dim; the rest behind; filled with attrs.number
  Flip,    // every one of attrs.dims
  Window,  // attrs.dims[0] = d, attrs.steps = {stride, dilation}: out[…, i, …, k] =
           // x[…, i * stride + k * dilation, …] with i along d and k along a new last dim
  Fold,    // what Window's derivative is: out[…, p, …] = the sum of all x[…, i, …, k] with
           // i * stride + k * dilation == p; the last dim goes, d has the node's extent
  Concat,  // along attrs.dims[0]
  Gather,  // x, index (int64, same extents elsewhere): torch.gather along attrs.dims[0]
  IndexSelect,  // x, index (int64, rank 1): along attrs.dims[0]
  Scatter,      // base, index (int64), source (of the index's shape): along attrs.dims[0],
                // attrs.scatter
};
inline constexpr int kOps = static_cast<int>(Op::Scatter) + 1;
/// In the enum's order, both ends included.
inline bool between(Op op, Op first, Op last) { return first <= op && op <= last; }

enum class OpKind : uint8_t {
  Source,
  Pointwise,
  Reduction,
  Scan,
  Selection,
  Contraction,
  Movement
};

/// One row per op, in the enum's order.
struct OpInfo {
  const char* name;  // "add", "cum_max_index": as printed graphs have it
  OpKind kind;
  int inputs;          // -1: any number
  bool exact;          // gives a value that was there, or an integer: no rounding of its own
  bool discontinuous;  // a small change of an input may change the result by a jump
  double flops;        // per result element (reductions, scans, selections: per input element;
                       // MatMul: times K)
};
const OpInfo& op_info(Op op);
std::optional<Op> op_from_name(std::string_view name);

}  // namespace kw::graph
