// PyTorch's kernels compute source positions in fp32, and the rounding can select a neighbour of
// the intended element. A graph must have one right answer, so positions are computed here with
// integers, num / den. nearest() compares them with the fp32 result of PyTorch for every element
// and refuses sizes where the two differ. Using fp32 positions would match PyTorch always, but the
// right element would depend on rounding. Integer ratios become a slice or a repetition, which need
// no index. The cost: a check of up to kLongestCheck elements per trace; larger sizes are not
// checked.
#include "graph/compose_interpolate.h"

#include <cmath>

#include "graph/compose_index.h"
#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

constexpr int64_t kLargestRatio = 4096;
constexpr int64_t kLongestCheck = 1 << 22;

Term upto(const Term& x, const Dim& last) {
  return apply(Op::Minimum, apply(Op::Maximum, x, 0), last);
}

// Kernels multiply in fp32 and round down, which sometimes gives a neighbour of the intended place.
int64_t place_in_kernel(const Resize& to, int64_t i, bool exact) {
  const auto at = static_cast<float>(i) + (exact ? 0.5F : 0.0F);
  return static_cast<int64_t>(std::floor(at * static_cast<float>(to.step)));
}

Status check_places(const Resize& to, bool exact) {
  const int64_t num = to.num.value(), den = to.den.value(), size = to.size.value();
  for (int64_t i = 0; i < size && size <= kLongestCheck; ++i) {
    const int64_t meant = exact ? (2 * i + 1) * num / (2 * den) : i * num / den;
    if (place_in_kernel(to, i, exact) != meant) {
      return input_error(
          "interpolate(): which element is the nearest to element {} of {} is decided by rounding "
          "errors; another size has an answer",
          i, size);
    }
  }
  return Done{};
}

// For integer ratios: a strided slice, or a repetition of every element.
Result<std::optional<NodeId>> without_index(Builder& b, NodeId x, int dim, const Resize& to) {
  const Dim extent = b.extent(x, dim);
  const Dim apart = floor_div(to.num, to.den), copies = floor_div(to.den, to.num);
  if (apart.is_constant() && (apart * to.den).same_text(to.num)) {
    const Dim stop = (to.size - Dim(1)) * apart + Dim(1);
    return std::optional(KW_TRY(b.slice(x, dim, Dim(0), stop, apart.value())));
  }
  if (copies.is_constant() && (copies * to.num).same_text(to.den) &&
      (copies * extent).same_text(to.size)) {
    return std::optional(KW_TRY(repeat_interleave(b, x, copies, dim)));
  }
  return std::optional<NodeId>();
}

Term along(Formula& f, const Dim& size) { return f(f.builder().iota({size}, 0, DType::Int64)); }

Result<NodeId> picked(Builder& b, NodeId x, int dim, const Term& places) {
  const NodeId index = KW_TRY(places.formula->done(places));
  return index_select(b, x, dim, index);
}

// The position of an element between the elements of the input.
struct Place {
  Term whole, rest;  // int64; fp32 in [0, 1]
};

Place place_of(Formula& f, const Dim& extent, const Resize& to, bool corners, bool inside,
               DType type) {
  const Term i = along(f, to.size), at = cast(i, type);
  Term top(0), exact(0);
  Dim bottom(1);
  if (corners) {
    const bool one = to.size.value() <= 1;
    bottom = one ? Dim(1) : to.size - Dim(1);
    top = i * (one ? Dim(0) : extent - Dim(1));
    exact = one ? at * 0.0
                : at * (f(f.builder().constant_dim(type, extent - Dim(1))) / (to.size - Dim(1)));
  } else {
    bottom = to.den * Dim(2);
    top = (i * 2 + 1) * to.num - to.den;
    exact = (at + 0.5) * (to.num.is_constant() && to.den.is_constant()
                              ? Term(to.step)
                              : f(f.builder().constant_dim(type, to.num)) / to.den) -
            0.5;
    if (inside) {
      top = apply(Op::Maximum, top, 0);
      exact = apply(Op::Maximum, exact, 0.0);
    }
  }
  const Term whole = apply(Op::FloorDiv, top, bottom);
  const Term rest = exact - cast(whole, type);
  return {whole, apply(Op::Minimum, apply(Op::Maximum, rest, 0.0), 1.0)};
}

// One factor per element of the result, shaped to broadcast against the tensor.
Result<NodeId> as_factor(Builder& b, NodeId x, int dim, const Term& factor) {
  const NodeId line = KW_TRY(factor.formula->done(factor));
  Shape shape(b[x].shape.size() - static_cast<size_t>(dim), Dim(1));
  shape[0] = b.extent(line, 0);
  return b.reshape(line, std::move(shape));
}

}  // namespace

Resize resize_to(const Dim& extent, const Dim& size) {
  const double step = static_cast<double>(extent.value()) / static_cast<double>(size.value());
  return {size, extent, size, step};
}

// Finds the first convergent of the continued fraction that equals the factor to 9 digits.
std::optional<Resize> resize_by(const Dim& extent, double factor) {
  if (!(factor > 0) || factor > static_cast<double>(kLargestRatio)) return std::nullopt;
  int64_t p = 1, q = 0, last_p = 0, last_q = 1;
  double rest = factor;
  while (true) {
    const double whole = std::floor(rest);
    if (whole > static_cast<double>(kLargestRatio)) return std::nullopt;
    const auto a = static_cast<int64_t>(whole);
    const int64_t next_p = a * p + last_p, next_q = a * q + last_q;
    last_p = p, last_q = q, p = next_p, q = next_q;
    if (p > kLargestRatio * kLargestRatio || q > kLargestRatio) return std::nullopt;
    const double have = static_cast<double>(p) / static_cast<double>(q);
    if (std::abs(have - factor) <= 1e-9 * factor) break;
    rest = 1 / (rest - whole);
  }
  if (p == 0) return std::nullopt;
  const Dim size = floor_div(extent * Dim(p), Dim(q));
  return Resize{size, Dim(q), Dim(p), 1 / factor};
}

Result<NodeId> nearest(Builder& b, NodeId x, int dim, const Resize& to, bool exact) {
  const Dim extent = b.extent(x, dim);
  if (to.size.same_text(extent) && to.num.same_text(to.den)) return x;
  KW_TRY(check_places(to, exact));
  if (!exact) {
    const std::optional<NodeId> done = KW_TRY(without_index(b, x, dim, to));
    if (done) return *done;
  }
  Formula f(b);
  const Term i = along(f, to.size);
  const Term place = exact ? apply(Op::FloorDiv, (i * 2 + 1) * to.num, to.den * Dim(2))
                           : apply(Op::FloorDiv, i * to.num, to.den);
  return picked(b, x, dim, upto(place, extent - Dim(1)));
}

Result<NodeId> linear_between(Builder& b, NodeId x, int dim, const Resize& to, bool corners) {
  const Dim extent = b.extent(x, dim);
  Formula f(b);
  const Place place = place_of(f, extent, to, corners, true, b.dtype(x));
  const Dim last = extent - Dim(1);
  const NodeId low = KW_TRY(picked(b, x, dim, upto(place.whole, last)));
  const NodeId high = KW_TRY(picked(b, x, dim, upto(place.whole + 1, last)));
  const NodeId share = KW_TRY(as_factor(b, x, dim, place.rest));
  return f.done(f(low) * (1 - f(share)) + f(high) * f(share));
}

Result<NodeId> cubic_between(Builder& b, NodeId x, int dim, const Resize& to, bool corners) {
  constexpr double kA = -0.75;
  const Dim extent = b.extent(x, dim);
  Formula f(b);
  const Place place = place_of(f, extent, to, corners, false, b.dtype(x));
  const auto near = [](const Term& t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; };
  const auto far = [](const Term& t) { return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA; };
  const Term t = place.rest, back = 1 - t;
  const Term factors[] = {far(t + 1), near(t), near(back), far(back + 1)};
  Term total(0);
  for (int k = 0; k < 4; ++k) {
    const NodeId element = KW_TRY(picked(b, x, dim, upto(place.whole + (k - 1), extent - Dim(1))));
    const NodeId factor = KW_TRY(as_factor(b, x, dim, factors[k]));
    const Term part = f(element) * f(factor);
    total = k == 0 ? part : total + part;
  }
  return f.done(total);
}

}  // namespace kw::graph
