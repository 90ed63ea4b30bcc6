// The problem: turn a relation into a concrete check, with inputs and truths for a second call.
// Rows, scales and linear splits reuse the truths of the cell; only a shift asks the oracle again.
// Scales are powers of two and shifts lie on a coarse grid, so that the new inputs are exact. The
// alternative, wider bounds for inexact inputs, would hide small errors. The cost: a relation is
// skipped when values would leave the format's range.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "gate/metamorphic.h"
#include "inputs/families.h"
#include "os/parallel.h"
#include "ports/bound.h"
#include "tensor/convert.h"
#include "tensor/inputs.h"

namespace kw::gate {

namespace {

using ports::Truth;
using tensor::HostTensor;

constexpr double kScale = 4;          // a power of two also for half degrees
constexpr double kRangeShare = 0.01;  // share of the format's range for scaled values
constexpr double kShift = 4;
constexpr double kGrid = 0x1p-4;  // values and shifted values are exact in bf16 and wider
constexpr double kGridReach = 3.5;
constexpr double kWideRange = 0x1p100;  // ordinary inputs stay far below the ends of such types
constexpr double kNearEnd = 0.25;       // of the range: two parts below it cannot overflow
constexpr int64_t kSliceGrain = 1 << 20;

/// An array seen as `outer` blocks of `extent` slices with `inner` items each.
struct Slices {
  int64_t outer = 1, extent = 1, inner = 1;

  Slices(const std::vector<int64_t>& shape, int axis) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto at = static_cast<int>(i);
      (at < axis ? outer : at == axis ? extent : inner) *= shape[i];
    }
  }

  template <typename T>
  tensor::Large<T> take(const tensor::Large<T>& from, const std::vector<int64_t>& order,
                        int64_t width = 1) const {
    tensor::Large<T> to;
    if (from.empty()) return to;
    const int64_t length = inner * width, many = static_cast<int64_t>(order.size());
    to.resize(static_cast<size_t>(many * outer * length));
    const int pieces = os::thread_count(many * outer * length, kSliceGrain, 0);
    os::in_pieces(many * outer, pieces, [&](int, int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t slice = at / many * extent + order[static_cast<size_t>(at % many)];
        std::copy_n(from.begin() + slice * length, length, to.begin() + at * length);
      }
    });
    return to;
  }

  /// Values of single elements, sorted by index before and after.
  std::vector<ports::OtherValue> take_others(const std::vector<ports::OtherValue>& from,
                                             const std::vector<int64_t>& order) const {
    std::vector<ports::OtherValue> to;
    const auto many = static_cast<int64_t>(order.size());
    for (int64_t at = 0; at < many * outer; ++at) {
      const int64_t first = (at / many * extent + order[static_cast<size_t>(at % many)]) * inner;
      auto one = std::ranges::lower_bound(from, first, {}, &ports::OtherValue::index);
      for (; one != from.end() && one->index < first + inner; ++one)
        to.push_back({at * inner + one->index - first, one->value, one->bound});
    }
    return to;
  }
};

HostTensor take(const HostTensor& tensor, int axis, const std::vector<int64_t>& order) {
  const Slices slices(tensor.shape, axis);
  HostTensor result{tensor.dtype, tensor.shape, {}};
  result.shape[static_cast<size_t>(axis)] = static_cast<int64_t>(order.size());
  result.data = slices.take(tensor.data, order, tensor::dtype_size(tensor.dtype));
  return result;
}

Truth take(const Truth& truth, int axis, const std::vector<int64_t>& order) {
  const Slices slices(truth.shape, axis);
  Truth result;
  result.name = truth.name;
  result.dtype = truth.dtype;
  result.exact = truth.exact;
  result.shape = truth.shape;
  result.shape[static_cast<size_t>(axis)] = static_cast<int64_t>(order.size());
  result.value = slices.take(truth.value, order);
  result.integers = slices.take(truth.integers, order);
  result.a = slices.take(truth.a, order);
  result.h = slices.take(truth.h, order);
  result.jump = slices.take(truth.jump, order);
  result.may_overflow = slices.take(truth.may_overflow, order);
  if (!truth.others.empty()) result.others = slices.take_others(truth.others, order);
  return result;
}

std::optional<Changed> apply_rows(const Relation& relation, const std::vector<HostTensor>& inputs,
                                  const std::vector<Truth>& truths, uint64_t seed) {
  int64_t extent = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (relation.input_axes[i] >= 0)
      extent = inputs[i].shape[static_cast<size_t>(relation.input_axes[i])];
  }
  const bool split = relation.kind == RelationKind::Split;
  if (extent < 2) return std::nullopt;
  std::vector<int64_t> order = inputs::shuffled(extent, seed);
  if (split) {
    order.resize((order.size() + 1) / 2);
    std::ranges::sort(order);
  }
  Changed changed;
  changed.extent = static_cast<int64_t>(order.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int axis = relation.input_axes[i];
    changed.inputs.push_back(axis < 0 ? inputs[i] : take(inputs[i], axis, order));
  }
  for (size_t i = 0; i < truths.size(); ++i) {
    const int axis = relation.output_axes[i];
    changed.truths.push_back(axis < 0 ? truths[i] : take(truths[i], axis, order));
  }
  return changed;
}

tensor::Large<double> values_of(const HostTensor& tensor) {
  tensor::Large<double> values(static_cast<size_t>(tensor::value_count(tensor)));
  tensor::load_values(tensor, 0, values);
  return values;
}

double largest(const tensor::Large<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

void scale(tensor::Large<float>* values, double by) {
  for (float& value : *values) value = static_cast<float>(value * by);
}

std::optional<Changed> apply_scale(const Relation& relation, const std::vector<HostTensor>& inputs,
                                   const std::vector<Truth>& truths) {
  Changed changed{inputs, truths, {}, 0};
  HostTensor& input = changed.inputs[static_cast<size_t>(relation.input)];
  tensor::Large<double> values = values_of(input);
  for (double& value : values) value *= kScale;
  if (!(largest(values) < ports::largest_finite(input.dtype) * kRangeShare)) return std::nullopt;
  tensor::store_floats(input, 0, values);
  for (size_t i = 0; i < truths.size(); ++i) {
    Truth& truth = changed.truths[i];
    const double by = std::pow(kScale, relation.amounts[i]);
    if (by == 1) continue;
    if (!tensor::is_float(truth.dtype)) return std::nullopt;
    for (double& value : truth.value) value *= by;
    if (!(largest(truth.value) < ports::largest_finite(truth.dtype) * kRangeShare))
      return std::nullopt;
    scale(&truth.a, by);
    scale(&truth.h, by);
    scale(&truth.jump, by);
  }
  return changed;
}

// Values lie on a coarse grid, so that the shifted ones are exact. The bounds come from the shifted
// call, the values from the other one.
Result<std::optional<Changed>> apply_shift(const Relation& relation,
                                           const std::vector<HostTensor>& inputs, uint64_t seed,
                                           const Truths& truth_of) {
  const auto at = static_cast<size_t>(relation.input);
  const tensor::DType dtype = inputs[at].dtype;
  if (ports::unit_roundoff(dtype) > ports::unit_roundoff(tensor::DType::Bf16))
    return std::optional<Changed>();
  std::vector<HostTensor> grid = inputs;
  grid[at] = KW_TRY(tensor::make_input(dtype, inputs[at].shape, tensor::Family::Uniform,
                                       inputs::derive_seed(seed, 3)));
  tensor::Large<double> values = values_of(grid[at]);
  for (double& value : values) value = std::round(value * kGridReach / kGrid) * kGrid;
  tensor::store_floats(grid[at], 0, values);
  const std::vector<Truth> unshifted = KW_TRY(truth_of(grid));
  for (double& value : values) value += kShift;
  tensor::store_floats(grid[at], 0, values);
  Changed changed{grid, KW_TRY(truth_of(grid)), {}, 0};
  for (size_t i = 0; i < unshifted.size(); ++i) {
    Truth& truth = changed.truths[i];
    const double by = relation.amounts[i] * kShift;
    if (!tensor::is_float(truth.dtype)) {
      truth.integers = unshifted[i].integers;
      continue;
    }
    for (size_t k = 0; k < truth.value.size(); ++k) truth.value[k] = unshifted[i].value[k] + by;
  }
  return std::optional(std::move(changed));
}

/// Whether ordinary inputs may leave the range of some node's type.
bool is_narrow(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const graph::Node& node) {
    return tensor::is_float(node.dtype) && ports::largest_finite(node.dtype) < kWideRange;
  });
}

bool is_overflow(const Truth& truth, size_t at) {
  return !std::isfinite(truth.value[at]) ||
         (!truth.may_overflow.empty() && truth.may_overflow[at] != 0);
}

bool any_overflow(const std::vector<Truth>& truths) {
  return std::ranges::any_of(truths, [](const Truth& t) { return !t.may_overflow.empty(); });
}

/// Marks the elements of the whole that overflow in a part.
void mark_overflow(const std::vector<Truth>& part, std::vector<Truth>* whole) {
  for (size_t i = 0; i < part.size(); ++i) {
    Truth& truth = (*whole)[i];
    for (size_t at = 0; at < truth.value.size(); ++at) {
      if (!is_overflow(part[i], at)) continue;
      truth.may_overflow.resize(truth.value.size());
      truth.may_overflow[at] |= ports::kMayBeOther;
    }
  }
}

Result<std::optional<Changed>> apply_linear(const Relation& relation, const graph::Graph& graph,
                                            const std::vector<HostTensor>& inputs,
                                            const std::vector<Truth>& truths, uint64_t seed,
                                            const Truths& truth_of) {
  Changed changed{inputs, truths, inputs, 0};
  const auto at = static_cast<size_t>(relation.input);
  tensor::Large<double> some = values_of(inputs[at]);
  tensor::Large<double> others = some;
  for (size_t i = 0; i < some.size(); ++i)
    (inputs::derive_seed(seed, i) % 2 == 0 ? some[i] : others[i]) = 0;
  tensor::store_floats(changed.inputs[at], 0, some);
  tensor::store_floats(changed.before[at], 0, others);
  if (is_narrow(graph) && truth_of) {
    mark_overflow(KW_TRY(truth_of(changed.inputs)), &changed.truths);
    mark_overflow(KW_TRY(truth_of(changed.before)), &changed.truths);
  }
  return std::optional(std::move(changed));
}

}  // namespace

Result<std::optional<Changed>> apply(const Relation& relation, const graph::Graph& graph,
                                     const std::vector<HostTensor>& inputs,
                                     const std::vector<Truth>& truths, uint64_t seed,
                                     const Truths& truth_of) {
  const bool plain = std::ranges::all_of(truths, [](const Truth& truth) {
    return !truth.scores && truth.dtype != tensor::DType::Fp4e2m1x2 && !truth.value.empty();
  });
  if (!plain) return std::optional<Changed>();
  switch (relation.kind) {
    case RelationKind::Permute:
    case RelationKind::Split:
      return apply_rows(relation, inputs, truths, seed);
    case RelationKind::Scale: {
      std::optional<Changed> changed = apply_scale(relation, inputs, truths);
      if (!changed || !is_narrow(graph) || !truth_of) return changed;
      // Where something overflows on the way, scales are none of the output.
      if (any_overflow(truths) || any_overflow(KW_TRY(truth_of(changed->inputs))))
        return std::optional<Changed>();
      return changed;
    }
    case RelationKind::Shift:
      return apply_shift(relation, inputs, seed, truth_of);
    case RelationKind::Linear:
      return apply_linear(relation, graph, inputs, truths, seed, truth_of);
  }
  return std::optional<Changed>();
}

namespace {

/// The element may be anything.
void leave_out(size_t at, Truth& truth) {
  truth.value[at] = 0;
  truth.may_overflow.resize(truth.value.size());
  truth.may_overflow[at] =
      ports::kMayBeUp | ports::kMayBeDown | ports::kMayBeNan | ports::kMayBeOther;
  truth.others.push_back({static_cast<int64_t>(at), 0, std::numeric_limits<double>::infinity()});
}

}  // namespace

void subtract(const std::vector<HostTensor>& outputs, std::vector<Truth>* truths) {
  for (size_t i = 0; i < truths->size(); ++i) {
    Truth& truth = (*truths)[i];
    const tensor::Large<double> first = values_of(outputs[i]);
    const double unit = ports::unit_roundoff(truth.dtype);
    const double step = ports::smallest_step(truth.dtype, true);
    truth.h.resize(truth.value.size());
    truth.exact = false;
    truth.others.clear();
    const double near_end = kNearEnd * ports::largest_finite(truth.dtype);
    for (size_t k = 0; k < truth.value.size(); ++k) {
      const double most = std::max(std::fabs(first[k]), std::fabs(truth.value[k]));
      if (is_overflow(truth, k) || !(most <= near_end)) {
        leave_out(k, truth);
        continue;
      }
      truth.value[k] -= first[k];
      truth.h[k] += static_cast<float>(unit * std::fabs(first[k]) + step);
    }
  }
}

}  // namespace kw::gate
