// Normalisation layers can be computed by several formulas that are equal only without rounding.
// The graph must round where PyTorch's kernels round, or honest kernels would exceed their bound.
// So each layer follows the formula of PyTorch's kernel: statistics in fp32 for half types, one
// rounding at the end. Variance is the mean of squared distances from the mean, not E[x^2] -
// E[x]^2, which loses digits. The statistics are plain Sum nodes, so the derivative can recognise
// the pattern (derive_closed.cpp). The cost: two formulas for the affine step, because some kernels
// fold it into one multiply-add.
#include "graph/compose_norm.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

constexpr int64_t kWidestResponse = 1024;  // one addition per neighbour

Status need_float(const Builder& b, NodeId x, const char* what) {
  if (tensor::is_float(b.dtype(x)) && !is_storage_only(b.dtype(x))) return Done{};
  return input_error("\"{}\" not implemented for '{}'", what, torch_name(b.dtype(x)));
}

// softmax and log_softmax. `finish` combines x - max, its exponentials and their sum.
template <typename Finish>
Result<NodeId> shifted(Builder& b, NodeId x, int dim, MaybeType dtype, const char* what,
                       Finish finish) {
  if (dtype) x = b.cast(x, *dtype);
  KW_TRY(need_float(b, x, what));
  const int at = KW_TRY(b.wrap_dim(dim, x));
  const Shape shape = b[x].shape;
  if (count_of(shape) == Dim(0)) return x;
  const NodeId full = shape.empty() ? KW_TRY(b.reshape(x, {1})) : x;
  Formula f(b);
  const Term w = wide(f(full));
  const Term below = w - reduce(Op::Max, w, {at});
  const Term power = apply(Op::Exp, below);
  const Term result = finish(below, power, reduce(Op::Sum, power, {at}));
  const NodeId kept = KW_TRY(f.done(result, b.dtype(x)));
  return b.reshape(kept, shape);
}

// The last dims of x. They must equal `normalized`; so must the shapes of weight and bias.
Result<Dims> normalized_dims(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                             MaybeNode bias) {
  const Shape& shape = b[x].shape;
  const size_t n = normalized.size();
  if (n == 0) {
    return input_error(
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
        "element, but got normalized_shape = []");
  }
  const bool fits = n <= shape.size() && std::equal(normalized.begin(), normalized.end(),
                                                    shape.end() - static_cast<long>(n));
  if (!fits) {
    const std::string list = values_text(normalized);
    return input_error(
        "Given normalized_shape={}, expected input with shape [*, {}, but got input of size{}",
        list, list.substr(1), values_text(shape));
  }
  for (const MaybeNode& part : {weight, bias}) {
    if (part && b[*part].shape != normalized) {
      return input_error(
          "Expected weight and bias to be of same shape as normalized_shape, but got shape {} and "
          "normalized_shape = {}",
          values_text(b[*part].shape), values_text(normalized));
    }
  }
  Dims dims(n);
  std::iota(dims.begin(), dims.end(), static_cast<int>(shape.size() - n));
  for (size_t i = 0; i < n; ++i) b.guard_equal(normalized[i], b[x].shape[shape.size() - n + i]);
  return dims;
}

Dim extents_of(const Builder& b, NodeId x, const Dims& dims) {
  Dim count(1);
  for (int dim : dims) count = count * b.extent(x, dim);
  return count;
}

struct Statistics {
  Term mean, var;
};
Statistics statistics(const Term& x, const Dims& dims, const Dim& count) {
  const Term mean = reduce(Op::Sum, x, dims) / count;
  const Term centred = x - mean;
  return {mean, reduce(Op::Sum, centred * centred, dims) / count};
}

// A per-channel vector as [1, C, 1, …], so that it broadcasts against x.
Result<NodeId> as_channels(Builder& b, NodeId vector, NodeId x, const char* what) {
  const Dim channels = b.extent(x, 1);
  if (b.rank(vector) != 1 || !(b.extent(vector, 0) == channels)) {
    return input_error("{} should contain {} elements not {}", what, channels.value(),
                       count_of(b[vector].shape).value());
  }
  b.guard_equal(b.extent(vector, 0), channels);
  Shape shape(b[x].shape.size(), Dim(1));
  shape[1] = b.extent(vector, 0);
  return b.reshape(vector, std::move(shape));
}

Status need_channels(const Builder& b, NodeId x, const char* what) {
  KW_TRY(need_float(b, x, what));
  if (b.rank(x) >= 2) return Done{};
  return input_error("{}: Expected at least 2 dimensions for input tensor but received {}", what,
                     b.rank(x));
}

Result<NodeId> affine(Formula& f, Term y, NodeId x, const ChannelNorm& norm) {
  Builder& b = f.builder();
  if (norm.weight) {
    const NodeId weight = KW_TRY(as_channels(b, *norm.weight, x, "weight"));
    y = y * wide(f(weight));
  }
  if (norm.bias) {
    const NodeId bias = KW_TRY(as_channels(b, *norm.bias, x, "bias"));
    y = y + wide(f(bias));
  }
  return f.done(y, b.dtype(x));
}

Dims all_but_channels(const Builder& b, NodeId x, int first) {
  Dims dims;
  for (int i = first; i < b.rank(x); ++i) {
    if (i != 1) dims.push_back(i);
  }
  return dims;
}

Result<NodeId> by_statistics(Builder& b, NodeId x, const Dims& dims, const ChannelNorm& norm) {
  Formula f(b);
  const Term w = wide(f(x));
  const Statistics s = statistics(w, dims, extents_of(b, x, dims));
  return affine(f, (w - s.mean) * apply(Op::Rsqrt, s.var + norm.eps), x, norm);
}

// Running values are known before the run, so kernels fold them into one multiply-add per channel,
// as PyTorch does on the CPU. That form has the larger rounding error.
Result<NodeId> by_running(Builder& b, NodeId x, const ChannelNorm& norm) {
  if (!norm.running_mean || !norm.running_var) {
    return input_error("Expected running_mean and running_var to be defined when training=False");
  }
  const NodeId mean = KW_TRY(as_channels(b, *norm.running_mean, x, "running_mean"));
  const NodeId var = KW_TRY(as_channels(b, *norm.running_var, x, "running_var"));
  Formula f(b);
  const Term scale = apply(Op::Rsqrt, wide(f(var)) + norm.eps);
  const Term slope =
      norm.weight ? scale * wide(f(as_channels(b, *norm.weight, x, "weight"))) : scale;
  Term level = apply(Op::Neg, wide(f(mean))) * slope;
  if (norm.bias) level = level + wide(f(as_channels(b, *norm.bias, x, "bias")));
  return f.done(wide(f(x)) * slope + level, b.dtype(x));
}

}  // namespace

Result<NodeId> softmax(Builder& b, NodeId x, int dim, MaybeType dtype) {
  return shifted(b, x, dim, dtype, "softmax",
                 [](const Term&, const Term& power, const Term& total) { return power / total; });
}

Result<NodeId> log_softmax(Builder& b, NodeId x, int dim, MaybeType dtype) {
  return shifted(b, x, dim, dtype, "log_softmax",
                 [](const Term& below, const Term&, const Term& total) {
                   return below - apply(Op::Log, total);
                 });
}

Result<NodeId> layer_norm(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                          MaybeNode bias, const Number& eps) {
  KW_TRY(need_float(b, x, "layer_norm"));
  const Dims dims = KW_TRY(normalized_dims(b, x, normalized, weight, bias));
  Formula f(b);
  const Term w = wide(f(x));
  const Statistics s = statistics(w, dims, extents_of(b, x, dims));
  Term y = (w - s.mean) * apply(Op::Rsqrt, s.var + eps);
  if (weight) y = y * wide(f(*weight));
  if (bias) y = y + wide(f(*bias));
  return f.done(y, b.dtype(x));
}

Result<NodeId> rms_norm(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                        std::optional<Number> eps) {
  KW_TRY(need_float(b, x, "rms_norm"));
  const Dims dims = KW_TRY(normalized_dims(b, x, normalized, weight, {}));
  const double smallest = b.dtype(x) == DType::Fp64 ? std::numeric_limits<double>::epsilon()
                                                    : std::numeric_limits<float>::epsilon();
  Formula f(b);
  const Term w = wide(f(x));
  const Term mean_square = reduce(Op::Sum, w * w, dims) / extents_of(b, x, dims);
  Term y = w * apply(Op::Rsqrt, mean_square + eps.value_or(smallest));
  if (weight) y = y * wide(f(*weight));
  return f.done(y, b.dtype(x));
}

// With weight or bias, and rank 3 or more, PyTorch folds everything into one multiply-add per
// channel. The graph does the same, because the rounding happens there.
Result<NodeId> group_norm(Builder& b, NodeId x, int64_t groups, MaybeNode weight, MaybeNode bias,
                          const Number& eps) {
  KW_TRY(need_channels(b, x, "group_norm"));
  const Shape shape = b[x].shape;
  const Dim channels = shape[1];
  if (groups <= 0 || channels.value() % groups != 0) {
    return input_error(
        "Expected number of channels in input to be divisible by num_groups, but got input of "
        "shape {} and num_groups={}",
        values_text(shape), groups);
  }
  const Dim each = floor_div(channels, Dim(groups));
  const Dim rest = count_of(Shape(shape.begin() + 2, shape.end()));
  const NodeId grouped = KW_TRY(b.reshape(x, {shape[0], groups, each, rest}));
  Formula f(b);
  const auto channel_term = [&](const MaybeNode& vector, const char* what) -> Result<NodeId> {
    const NodeId flat = KW_TRY(as_channels(b, *vector, x, what));
    return b.reshape(flat, {1, groups, each, 1});
  };
  const Term w = wide(f(grouped));
  const Statistics s = statistics(w, {2, 3}, each * rest);
  const Term scale = apply(Op::Rsqrt, s.var + eps);
  Term y = (w - s.mean) * scale;
  if ((weight || bias) && shape.size() > 2) {
    const Term slope = weight ? scale * wide(f(channel_term(weight, "weight"))) : scale;
    const Term level = apply(Op::Neg, s.mean) * slope;
    y = w * slope + (bias ? level + wide(f(channel_term(bias, "bias"))) : level);
  } else {
    if (weight) y = y * wide(f(channel_term(weight, "weight")));
    if (bias) y = y + wide(f(channel_term(bias, "bias")));
  }
  const NodeId kept = KW_TRY(f.done(y, b.dtype(x)));
  return b.reshape(kept, shape);
}

Result<NodeId> batch_norm(Builder& b, NodeId x, const ChannelNorm& norm) {
  KW_TRY(need_channels(b, x, "batch_norm"));
  if (!norm.training) return by_running(b, x, norm);
  const Dims dims = all_but_channels(b, x, 0);
  if (extents_of(b, x, dims) == Dim(1)) {
    return input_error("Expected more than 1 value per channel when training, got input size {}",
                       values_text(b[x].shape));
  }
  return by_statistics(b, x, dims, norm);
}

Result<NodeId> instance_norm(Builder& b, NodeId x, const ChannelNorm& norm) {
  KW_TRY(need_channels(b, x, "instance_norm"));
  if (!norm.training) return by_running(b, x, norm);
  const Dims dims = all_but_channels(b, x, 2);
  if (dims.empty() || extents_of(b, x, dims) == Dim(1)) {
    return input_error("Expected more than 1 spatial element when training, got input size {}",
                       values_text(b[x].shape));
  }
  return by_statistics(b, x, dims, norm);
}

Result<RunningStats> batch_norm_update(Builder& b, NodeId x, const ChannelNorm& norm,
                                       double momentum) {
  KW_TRY(need_channels(b, x, "batch_norm"));
  if (!norm.running_mean || !norm.running_var) {
    return input_error("batch_norm: there are no running values to update");
  }
  const Dims dims = all_but_channels(b, x, 0);
  const Dim count = extents_of(b, x, dims);
  Formula f(b);
  const Statistics s = statistics(wide(f(x)), dims, count);
  const Term unbiased = s.var * (Term(f, b.constant_dim(DType::Fp32, count)) / (count - Dim(1)));
  const auto step = [&](NodeId old, const Term& now) -> Result<NodeId> {
    const NodeId kept = KW_TRY(f.done(now));
    const NodeId vector = KW_TRY(b.reshape(kept, b[old].shape));
    return f.done(f(vector) * momentum + wide(f(old)) * (1 - momentum), b.dtype(old));
  };
  RunningStats result;
  result.mean = KW_TRY(step(*norm.running_mean, s.mean));
  result.var = KW_TRY(step(*norm.running_var, unbiased));
  return result;
}

Result<NodeId> local_response_norm(Builder& b, NodeId x, int64_t size, double alpha, double beta,
                                   double k) {
  KW_TRY(need_float(b, x, "local_response_norm"));
  if (b.rank(x) < 3)
    return input_error("Expected 3D or higher dimensionality input (got {} dimensions)", b.rank(x));
  if (size < 1 || size > kWidestResponse)
    return input_error("local_response_norm: size must be between 1 and {}", kWidestResponse);
  Formula f(b);
  const NodeId squares = KW_TRY(f.done(f(x) * f(x)));
  std::vector<Dim> pads(2 * static_cast<size_t>(b.rank(x) - 1), Dim(0));
  pads[pads.size() - 2] = size / 2;
  pads[pads.size() - 1] = (size - 1) / 2;
  const NodeId padded = KW_TRY(pad(b, squares, pads, PadMode::Constant, 0));
  Term total = wide(f(narrow(b, padded, 1, 0, b.extent(x, 1))));
  for (int64_t i = 1; i < size; ++i) {
    total = total + wide(f(narrow(b, padded, 1, i, b.extent(x, 1))));
  }
  const Term mean = cast(total / Dim(size), b.dtype(x));
  return f.done(f(x) / apply(Op::Pow, mean * alpha + k, beta));
}

}  // namespace kw::graph
