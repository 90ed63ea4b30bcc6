// Smooth functions of one argument. Where the error is small against the argument, the derivative
// carries it; else the function is tried at both ends.
#include <algorithm>
#include <cmath>
#include <limits>

#include "truth/levels.h"
#include "truth/scalar.h"
#include "truth/special.h"
#include "truth/swing.h"

namespace kw::truth::KW_SIMD_LEVEL {

using graph::Op;

namespace {

// e is small when it is below this share of the argument and of 1.
constexpr double kSmall = 0x1p-6;

template <class F>
void values(const Operand& x, int count, Lanes& out, F f) {
  for (int k = 0; k < count; ++k) out.t[k] = f(x.lanes->t[k]);
}

// Whether a pole lies within e of x.
bool pole_near(Op op, double x, double e) {
  if (op == Op::Tan) return std::floor((x - e) / M_PI + 0.5) != std::floor((x + e) / M_PI + 0.5);
  const bool gamma = op == Op::Lgamma || op == Op::Digamma;
  return gamma && std::ceil(x - e) <= std::min(x + e, 0.0);
}

// The ends say nothing about functions that turn around or have poles between them.
template <class F>
double moved(Op op, F f, double x, double y, double e, double overflow) {
  if (e == 0) return 0;
  if (op == Op::Sin || op == Op::Cos) return e < 2 ? e : 2;
  if (pole_near(op, x, e)) return std::numeric_limits<double>::infinity();
  return swing(f, x, y, e, overflow);
}

template <class F>
void try_ends(const PointSpec& spec, const Operand& x, int k, Lanes& out, F f) {
  const double v = x.lanes->t[k], y = out.t[k];
  const double own = spec.errors.argument * spec.rounding.unit * finite_magnitude(v);
  const double e = kPathFactor * (a_of(x)[k] + own);
  if (spec.tracks.a) out.a[k] = moved(spec.op, f, v, y, e, kPathOverflow) / kPathFactor;
  if (spec.tracks.h) out.h[k] = moved(spec.op, f, v, y, h_of(x)[k], kHalfOverflow);
}

/// `slope` is |f'(x)| from x and y.
template <class F, class D>
void smooth(const PointSpec& spec, const Operand& x, int count, Lanes& out, F f, D slope) {
  values(x, count, out, f);
  if (!spec.tracks.a && !spec.tracks.h) return;
  const double* a = a_of(x);
  const double* h = h_of(x);
  const double own = spec.errors.argument * spec.rounding.unit;
  uint8_t rough[kChunk];
  int any = 0;
  for (int k = 0; k < count; ++k) {
    const double v = x.lanes->t[k], m = std::fabs(v);
    const double d = slope(v, out.t[k]);
    const double e = a[k] + own * (m <= std::numeric_limits<double>::max() ? m : 0);
    const double most = e > h[k] ? e : h[k];
    const bool bad =
        !(most <= kSmall * (m < 1 ? m : 1)) | !(d <= std::numeric_limits<double>::max());
    rough[k] = bad;
    any |= bad;
    out.a[k] = d * e;
    out.h[k] = d * h[k];
  }
  if (any == 0) return;
  for (int k = 0; k < count; ++k) {
    if (rough[k] != 0) try_ends(spec, x, k, out, f);
  }
}

// Functions whose derivative is not worth writing down.
void by_trying(const PointSpec& spec, const Operand& x, int count, Lanes& out) {
  const Op op = spec.op;
  const auto f = [op](double v) { return apply(op, v); };
  values(x, count, out, f);
  if (!spec.tracks.a && !spec.tracks.h) return;
  for (int k = 0; k < count; ++k) try_ends(spec, x, k, out, f);
}

}  // namespace

void run_unary(const PointSpec& spec, const Operand& x, int count, Lanes& out) {
  const auto same = [](double, double y) { return std::fabs(y); };
  switch (spec.op) {
    case Op::Sqrt:
      return smooth(
          spec, x, count, out, [](double v) { return std::sqrt(v); },
          [](double, double y) { return 0.5 / y; });
    case Op::Rsqrt:
      return smooth(
          spec, x, count, out, [](double v) { return 1 / std::sqrt(v); },
          [](double v, double y) { return 0.5 * y / v; });
    case Op::Reciprocal:
      return smooth(
          spec, x, count, out, [](double v) { return 1 / v; },
          [](double, double y) { return y * y; });
    case Op::Exp:
      return smooth(
          spec, x, count, out, [](double v) { return std::exp(v); }, same);
    case Op::Exp2:
      return smooth(
          spec, x, count, out, [](double v) { return std::exp2(v); },
          [](double, double y) { return 0.6931471805599453 * y; });
    case Op::Expm1:
      return smooth(
          spec, x, count, out, [](double v) { return std::expm1(v); },
          [](double, double y) { return y + 1; });
    case Op::Log:
      return smooth(
          spec, x, count, out, [](double v) { return std::log(v); },
          [](double v, double) { return 1 / v; });
    case Op::Log2:
      return smooth(
          spec, x, count, out, [](double v) { return std::log2(v); },
          [](double v, double) { return 1.4426950408889634 / v; });
    case Op::Sin:
      return smooth(
          spec, x, count, out, [](double v) { return std::sin(v); },
          [](double, double y) { return std::sqrt(std::max(0.0, 1 - y * y)); });
    case Op::Cos:
      return smooth(
          spec, x, count, out, [](double v) { return std::cos(v); },
          [](double, double y) { return std::sqrt(std::max(0.0, 1 - y * y)); });
    case Op::Tanh:
      return smooth(
          spec, x, count, out, [](double v) { return std::tanh(v); },
          [](double, double y) { return 1 - y * y; });
    case Op::Sigmoid:
      return smooth(
          spec, x, count, out, [](double v) { return sigmoid(v); },
          [](double, double y) { return y * (1 - y); });
    case Op::Erf:
      return smooth(
          spec, x, count, out, [](double v) { return std::erf(v); },
          [](double v, double) { return 1.12837916709551257 * std::exp(-v * v); });
    default:
      return by_trying(spec, x, count, out);
  }
}

void add_rounding(const PointSpec& spec, int count, Lanes& out) {
  const Rounding& r = spec.rounding;
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<double>::max();
  const double relative = spec.errors.relative * r.unit;
  const double tiny = spec.errors.relative > 0 ? r.tiny : 0;
  const double fixed = spec.errors.absolute * r.unit + spec.errors.floor;
  int far = 0;
  if (spec.tracks.a) {
    for (int k = 0; k < count; ++k) {
      const double m = std::fabs(out.t[k]);
      const bool finite = m <= largest;
      const double own = relative * m + (m > 0 ? tiny : 0) + fixed;
      double e = out.a[k] + (finite ? own : 0);
      e = e == e ? e : infinity;
      e = finite & (m + kPathFactor * out.a[k] > r.limit) ? infinity : e;
      far |= !(e <= largest);
      out.a[k] = e;
    }
  }
  if (spec.tracks.h) {
    for (int k = 0; k < count; ++k) {
      const double m = std::fabs(out.t[k]);
      const bool finite = m <= largest;
      const double own = r.half_unit * m + (m > 0 ? r.half_tiny : 0);
      double e = out.h[k] + (finite ? own : 0);
      e = e == e ? e : infinity;
      e = (finite | !r.half_infinity) & (m + out.h[k] > r.half_limit) ? infinity : e;
      far |= !(e <= largest);
      out.h[k] = e;
    }
  }
  if (far != 0) spec.findings->out_of_range = true;
}

}  // namespace kw::truth::KW_SIMD_LEVEL
