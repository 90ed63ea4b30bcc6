// Means, variances and norms are formulas over the primitives Sum, Max and Min. PyTorch computes
// them in fp32 for half types and rounds once; the formulas here do the same with wide(). logsumexp
// is the exception: PyTorch rounds after each of its operations, so the graph does too. A primitive
// for each would be rounded in one place, but each user of graphs would need it. Formulas keep the
// reduced dims, so that terms broadcast; finish() removes them at the end. The cost: one reshape
// per reduction without keepdim.
#include "graph/compose_reduce.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/term.h"

namespace kw::graph {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

NodeId as_dtype(Builder& b, NodeId x, MaybeType dtype) { return dtype ? b.cast(x, *dtype) : x; }

// The number of elements of x that are reduced to one result.
Dim reduced_count(const Builder& b, NodeId x, const Dims& wrapped) {
  Dim count(1);
  for (int dim : wrapped) count = count * b.extent(x, dim);
  return count;
}

// Formulas keep the reduced dims. Without keepdim this removes them.
Result<NodeId> finish(Builder& b, NodeId result, const Dims& wrapped, bool keepdim) {
  if (keepdim) return result;
  Shape shape;
  for (int i = 0; i < b.rank(result); ++i) {
    if (!std::ranges::binary_search(wrapped, i)) {
      shape.push_back(b.extent(result, i));
    }
  }
  return b.reshape(result, std::move(shape));
}

Status need_float(const Builder& b, NodeId x, const std::string& message) {
  if (tensor::is_float(b.dtype(x))) return Done{};
  return input_error(message);
}

Result<NodeId> fold(Builder& b, Op op, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype) {
  x = as_dtype(b, x, dtype);
  const NodeId result = KW_TRY(b.reduce(op, x, dims, keepdim));
  return as_dtype(b, result, dtype);
}

Result<NodeId> arg(Builder& b, Op op, NodeId x, std::optional<int> dim, bool keepdim) {
  if (b.dtype(x) == DType::Bool)
    return input_error("{}(): does not support bool input", op == Op::ArgMax ? "argmax" : "argmin");
  if (dim) return b.reduce(op, x, {*dim}, keepdim);
  const Shape kept(static_cast<size_t>(keepdim ? b.rank(x) : 0), Dim(1));
  if (count_of(b[x].shape) == Dim(0)) {
    return input_error(
        "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
        "reduction dim with the 'dim' argument.",
        op == Op::ArgMax ? "argmax" : "argmin");
  }
  const NodeId flat = KW_TRY(b.reshape(x, {-1}));
  const NodeId result = KW_TRY(b.reduce(op, flat, {0}, false));
  return b.reshape(result, kept);
}

Result<ValueIndex> along(Builder& b, Op value, Op index, NodeId x, int dim, bool keepdim) {
  const NodeId best = KW_TRY(b.reduce(value, x, {dim}, keepdim));
  const NodeId where_it_is = KW_TRY(b.reduce(index, x, {dim}, keepdim));
  return ValueIndex{best, where_it_is};
}

// Mean and variance in the type to compute in, with the reduced dims kept.
struct WideMoments {
  Term mean, var;
};
WideMoments wide_moments(const Term& x, const Dims& wrapped, const Dim& count, double correction) {
  const Term average = reduce(Op::Sum, x, wrapped) / count;
  const Term centred = x - average;
  const Term squares = reduce(Op::Sum, centred * centred, wrapped);
  const double freedom = static_cast<double>(count.value()) - correction;
  if (freedom <= 0) return {average, squares / 0};
  const bool whole = correction == std::floor(correction) && std::abs(correction) < 1e9;
  const Term divisor = whole ? Term(count - Dim(static_cast<int64_t>(correction))) : Term(freedom);
  return {average, squares / divisor};
}

Result<Moments> moments(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim,
                        bool root) {
  KW_TRY(need_float(b, x, "std and var only support floating point and complex dtypes"));
  const Dims wrapped = KW_TRY(b.wrap_dims(dims, x));
  Formula f(b);
  const WideMoments wide_ones =
      wide_moments(wide(f(x)), wrapped, reduced_count(b, x, wrapped), correction);
  const Term spread = root ? apply(Op::Sqrt, wide_ones.var) : wide_ones.var;
  const NodeId kept_spread = KW_TRY(f.done(spread, b.dtype(x)));
  const NodeId kept_mean = KW_TRY(f.done(wide_ones.mean, b.dtype(x)));
  Moments result;
  result.spread = KW_TRY(finish(b, kept_spread, wrapped, keepdim));
  result.mean = KW_TRY(finish(b, kept_mean, wrapped, keepdim));
  return result;
}

// any and all. Over zero elements they are false and true.
Result<NodeId> logic(Builder& b, Op op, NodeId x, const Dims& dims, bool keepdim) {
  const DType type = b.dtype(x) == DType::Uint8 ? DType::Uint8 : DType::Bool;
  const Dims wrapped = KW_TRY(b.wrap_dims(dims, x));
  Formula f(b);
  const Term truth = b.dtype(x) == DType::Bool ? f(x) : f(x) != Term(0);
  if (reduced_count(b, x, wrapped) == Dim(0)) {
    Shape shape = b[x].shape;
    for (int dim : wrapped) shape[static_cast<size_t>(dim)] = 1;
    const NodeId empty = KW_TRY(b.expand(b.constant_int(type, op == Op::Min ? 1 : 0), shape));
    return finish(b, empty, wrapped, keepdim);
  }
  const Term result = wrapped.empty() ? truth : reduce(op, truth, wrapped);
  const NodeId kept = KW_TRY(f.done(result, type));
  return finish(b, kept, wrapped, keepdim);
}

}  // namespace

Result<NodeId> sum(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype) {
  return fold(b, Op::Sum, x, dims, keepdim, dtype);
}

Result<NodeId> prod(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype) {
  return fold(b, Op::Prod, x, dims, keepdim, dtype);
}

Result<NodeId> mean(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype) {
  x = as_dtype(b, x, dtype);
  KW_TRY(need_float(b, x,
                    fmt::format("mean(): could not infer output dtype. Input dtype must be either "
                                "a floating point or complex dtype. Got: {}",
                                torch_name(b.dtype(x)))));
  const Dims wrapped = KW_TRY(b.wrap_dims(dims, x));
  Formula f(b);
  const Term average = reduce(Op::Sum, wide(f(x)), wrapped) / reduced_count(b, x, wrapped);
  const NodeId kept = KW_TRY(f.done(average, b.dtype(x)));
  return finish(b, kept, wrapped, keepdim);
}

Result<NodeId> nansum(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype) {
  x = as_dtype(b, x, dtype);
  if (!tensor::is_float(b.dtype(x))) return sum(b, x, dims, keepdim, {});
  Formula f(b);
  const NodeId counted = KW_TRY(f.done(where(apply(Op::IsNan, f(x)), 0, f(x))));
  return sum(b, counted, dims, keepdim, {});
}

Result<NodeId> nanmean(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype) {
  x = as_dtype(b, x, dtype);
  KW_TRY(need_float(
      b, x,
      fmt::format("nanmean(): expected input to have floating point or complex dtype but got {}",
                  torch_name(b.dtype(x)))));
  const NodeId total = KW_TRY(nansum(b, x, dims, keepdim, {}));
  Formula f(b);
  const NodeId counts = KW_TRY(f.done(apply(Op::Not, apply(Op::IsNan, f(x)))));
  const NodeId count = KW_TRY(sum(b, counts, dims, keepdim, {}));
  return f.done(f(total) / f(count));
}

Result<NodeId> amax(Builder& b, NodeId x, const Dims& dims, bool keepdim) {
  return b.reduce(Op::Max, x, dims, keepdim);
}

Result<NodeId> amin(Builder& b, NodeId x, const Dims& dims, bool keepdim) {
  return b.reduce(Op::Min, x, dims, keepdim);
}

Result<ValueIndex> max_along(Builder& b, NodeId x, int dim, bool keepdim) {
  return along(b, Op::Max, Op::ArgMax, x, dim, keepdim);
}

Result<ValueIndex> min_along(Builder& b, NodeId x, int dim, bool keepdim) {
  return along(b, Op::Min, Op::ArgMin, x, dim, keepdim);
}

Result<NodeId> argmax(Builder& b, NodeId x, std::optional<int> dim, bool keepdim) {
  return arg(b, Op::ArgMax, x, dim, keepdim);
}

Result<NodeId> argmin(Builder& b, NodeId x, std::optional<int> dim, bool keepdim) {
  return arg(b, Op::ArgMin, x, dim, keepdim);
}

Result<NodeId> var(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim) {
  return KW_TRY(moments(b, x, dims, correction, keepdim, false)).spread;
}

Result<NodeId> standard_deviation(Builder& b, NodeId x, const Dims& dims, double correction,
                                  bool keepdim) {
  return KW_TRY(moments(b, x, dims, correction, keepdim, true)).spread;
}

Result<Moments> var_mean(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim) {
  return moments(b, x, dims, correction, keepdim, false);
}

Result<Moments> std_mean(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim) {
  return moments(b, x, dims, correction, keepdim, true);
}

Result<NodeId> vector_norm(Builder& b, NodeId x, double p, const Dims& dims, bool keepdim,
                           MaybeType dtype) {
  KW_TRY(need_float(b, x,
                    fmt::format("linalg.vector_norm: Expected a floating point or complex tensor "
                                "as input. Got {}",
                                torch_name(b.dtype(x)))));
  x = as_dtype(b, x, dtype);
  const Dims wrapped = KW_TRY(b.wrap_dims(dims, x));
  Formula f(b);
  const Term size = apply(Op::Abs, f(x));
  Term norm = size;
  if (std::isinf(p)) {
    norm = reduce(p > 0 ? Op::Max : Op::Min, size, wrapped);
  } else if (p == 0) {
    norm = reduce(Op::Sum, cast(f(x) != Term(0), opmath(b.dtype(x))), wrapped);
  } else if (p == 1) {
    norm = reduce(Op::Sum, wide(size), wrapped);
  } else if (p == 2) {
    const Term w = wide(f(x));
    norm = apply(Op::Sqrt, reduce(Op::Sum, w * w, wrapped));
  } else {
    const Term powers = apply(Op::Pow, wide(size), p);
    norm = apply(Op::Pow, reduce(Op::Sum, powers, wrapped), 1 / p);
  }
  const NodeId kept = KW_TRY(f.done(norm, b.dtype(x)));
  return finish(b, kept, wrapped, keepdim);
}

// PyTorch also uses several operations, so half types are rounded after each.
Result<NodeId> logsumexp(Builder& b, NodeId x, const Dims& dims, bool keepdim) {
  x = b.cast(x, float_type(b.dtype(x)));
  const Dims wrapped = KW_TRY(b.wrap_dims(dims, x));
  Formula f(b);
  if (count_of(b[x].shape) == Dim(0)) {
    const Term empty = apply(Op::Log, reduce(Op::Sum, apply(Op::Exp, f(x)), wrapped));
    const NodeId kept = KW_TRY(f.done(empty));
    return finish(b, kept, wrapped, keepdim);
  }
  const Term top = reduce(Op::Max, f(x), wrapped);
  const Term shift = where(apply(Op::Abs, top) == Term(kInf), 0.0, top);
  const Term total = reduce(Op::Sum, apply(Op::Exp, f(x) - shift), wrapped);
  const NodeId kept = KW_TRY(f.done(apply(Op::Log, total) + shift));
  return finish(b, kept, wrapped, keepdim);
}

Result<NodeId> any(Builder& b, NodeId x, const Dims& dims, bool keepdim) {
  return logic(b, Op::Max, x, dims, keepdim);
}

Result<NodeId> all(Builder& b, NodeId x, const Dims& dims, bool keepdim) {
  return logic(b, Op::Min, x, dims, keepdim);
}

Result<NodeId> count_nonzero(Builder& b, NodeId x, const Dims& dims) {
  Formula f(b);
  const NodeId counts =
      KW_TRY(f.done(b.dtype(x) == DType::Bool ? f(x) : f(x) != Term(0), DType::Int64));
  return b.reduce(Op::Sum, counts, dims, false);
}

Result<NodeId> cosine_similarity(Builder& b, NodeId x, NodeId y, int dim, const Number& eps) {
  const std::vector<Operand> both = {Operand::tensor(x), Operand::tensor(y)};
  const DType type = KW_TRY(b.result_type(both));
  if (!tensor::is_float(type)) {
    return input_error("expected common dtype to be floating point, yet common dtype is {}",
                       torch_name(type));
  }
  std::vector<NodeId> pair = {b.cast(x, type), b.cast(y, type)};
  const Shape shape = KW_TRY(b.broadcast(pair));
  Formula f(b);
  std::vector<Term> scaled;
  for (NodeId one : pair) {
    const NodeId full = KW_TRY(b.expand(one, shape));
    const NodeId length = KW_TRY(vector_norm(b, full, 2, {dim}, true, {}));
    scaled.push_back(f(full) / apply(Op::Maximum, f(length), eps));
  }
  const NodeId products = KW_TRY(f.done(scaled[0] * scaled[1]));
  return sum(b, products, {dim}, false, {});
}

Result<NodeId> normalize(Builder& b, NodeId x, double p, int dim, const Number& eps) {
  const NodeId length = KW_TRY(vector_norm(b, x, p, {dim}, true, {}));
  Formula f(b);
  return f.done(f(x) / apply(Op::Maximum, f(length), eps));
}

Result<NodeId> pairwise_distance(Builder& b, NodeId x, NodeId y, double p, const Number& eps,
                                 bool keepdim) {
  Formula f(b);
  const NodeId difference = KW_TRY(f.done(f(x) - f(y) + eps));
  return vector_norm(b, difference, p, {-1}, keepdim, {});
}

}  // namespace kw::graph
