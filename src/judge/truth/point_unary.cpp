// Smooth functions of one argument. If the error is small compared with the argument, it is
// multiplied by the derivative; otherwise the function is evaluated at both ends.
#include "core/check.h"
#include "truth/levels.h"
#include "truth/rules.h"

namespace kw::truth::KW_SIMD_LEVEL {

using ops::Between;

namespace {

template <class F>
void values(const ChunkOperand& x, int count, VectorLanes& out, F f) {
  for (int k = 0; k < count; ++k) out.t[k] = f(x.lanes->t[k]);
}

template <class F>
void try_ends(const PointSpec& spec, const ChunkOperand& x, int k, VectorLanes& out, F f) {
  const Between between = graph::op_info(spec.op).between;
  const double v = x.lanes->t[k], y = out.t[k];
  const double own = spec.errors.argument * spec.rounding.unit;
  const double e = kPathFactor * argument_error(v, a_of(x)[k], own);
  if (spec.tracks.a) out.a[k] = error_between(between, f, v, y, e) / kPathFactor;
  if (spec.tracks.h) out.h[k] = error_between(between, f, v, y, h_of(x)[k]);
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
    const double v = x.lanes->t[k], d = slope(v, out.t[k]);
    const double e = argument_error(v, a[k], own);
    const bool bad = is_rough(v, d, e, h[k]);
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

bool add_rounding(const PointSpec& spec, int count, VectorLanes& out) {
  Rounding r = spec.rounding;
  const double path = spec.range.path, half = spec.range.half;
  r.limit = r.half_limit = infinity();  // limits are applied afterwards
  const OpErrors own = spec.errors;
  int unbounded = 0, beyond = 0;
  if (spec.tracks.a) {
    for (int k = 0; k < count; ++k) {
      beyond |= fabs(out.t[k]) + kPathFactor * out.a[k] > path;
      const double e = out.a[k] = with_path_rounding(out.t[k], out.a[k], r, own);
      unbounded |= !(e <= kLargest);
    }
  }
  if (spec.tracks.h) {
    for (int k = 0; k < count; ++k) {
      beyond |= fabs(out.t[k]) + out.h[k] > half;
      const double e = out.h[k] = with_half_rounding(out.t[k], out.h[k], r);
      unbounded |= !(e <= kLargest);
    }
  }
  if (unbounded != 0) spec.findings->unbounded = true;
  return beyond != 0;
}

}  // namespace kw::truth::KW_SIMD_LEVEL
