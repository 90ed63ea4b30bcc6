// Smooth functions of one argument. If the error is small compared with the argument, it is
// multiplied by the derivative; otherwise the function is evaluated at both ends.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "ops/special.h"
#include "truth/levels.h"
#include "truth/swing.h"

namespace kw::truth::KW_SIMD_LEVEL {

using graph::Op;
using ops::Between;

namespace {

// e is small if it is below this share of the argument and of 1.
constexpr double kSmall = 0x1p-6;

template <class F>
void values(const ChunkOperand& x, int count, VectorLanes& out, F f) {
  for (int k = 0; k < count; ++k) out.t[k] = f(x.lanes->t[k]);
}

// Returns whether a pole lies within e of x.
bool pole_near(Between between, double x, double e) {
  if (between == Between::TanPoles)
    return std::floor((x - e) / M_PI + 0.5) != std::floor((x + e) / M_PI + 0.5);
  return between == Between::GammaPoles && std::ceil(x - e) <= std::min(x + e, 0.0);
}

// The ends do not bound functions that oscillate or have poles between them.
template <class F>
double moved(Between between, F f, double x, double y, double e, double overflow) {
  if (e == 0) return 0;
  if (between == Between::Wave) return e < 2 ? e : 2;
  if (pole_near(between, x, e)) return std::numeric_limits<double>::infinity();
  return swing(f, x, y, e, overflow);
}

template <class F>
void try_ends(const PointSpec& spec, const ChunkOperand& x, int k, VectorLanes& out, F f) {
  const Between between = graph::op_info(spec.op).between;
  const double v = x.lanes->t[k], y = out.t[k];
  const double own = spec.errors.argument * spec.rounding.unit * finite_magnitude(v);
  const double e = kPathFactor * (a_of(x)[k] + own);
  if (spec.tracks.a) out.a[k] = moved(between, f, v, y, e, kPathOverflow) / kPathFactor;
  if (spec.tracks.h) out.h[k] = moved(between, f, v, y, h_of(x)[k], kHalfOverflow);
}

/// `slope` returns |f'(x)| from x and y.
template <class F, class D>
void run_function(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out, F f,
                  D slope) {
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

// For functions without a derivative in the op table.
template <class F>
void run_function(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out, F f) {
  values(x, count, out, f);
  if (!spec.tracks.a && !spec.tracks.h) return;
  for (int k = 0; k < count; ++k) try_ends(spec, x, k, out, f);
}

}  // namespace

void run_unary(const PointSpec& spec, const ChunkOperand& in, int count, VectorLanes& out) {
  using namespace ops;  // VALUE and SLOPE call it
  switch (spec.op) {
#define KW_FUNCTION(op, name, ...) \
  case Op::op:                     \
    return run_function(spec, in, count, out __VA_ARGS__);
#define VALUE(...) , [](double x) { return __VA_ARGS__; }
#define SLOPE(...) \
  , []([[maybe_unused]] double x, [[maybe_unused]] double y) { return __VA_ARGS__; }
#include "ops/table.def"
    default:
      KW_CHECK(false, "a float function of one argument");
  }
}

void add_rounding(const PointSpec& spec, int count, VectorLanes& out) {
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
