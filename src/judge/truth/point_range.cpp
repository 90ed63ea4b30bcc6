// The problem: a result may be too large for its type, or even for fp64, while a kernel that
// computes the same formula in another way stays in range. Results beyond their type are reported
// per node, and replaced by infinities only in runs that ask for it. A result that fp64 itself
// cannot hold gets an infinite error instead, and so does one that underflows to zero: the wide
// evaluation finds out what such a value means for an output. The alternative, wide numbers
// everywhere, would cost ten times the time. The cost here is one more comparison per element.
#include <algorithm>
#include <cmath>

#include "truth/point_rare.h"

namespace kw::truth {

namespace {

/// Whether the fp64 result may overflow although all operands are finite. Poles are not overflow.
bool overflows(const PointSpec& spec, std::span<const ChunkOperand> in, int k) {
  const double x = in[0].lanes->t[k], z = in.size() > 1 ? in[1].lanes->t[k] : x;
  switch (spec.op) {
#define KW_POINTWISE(op, name, inputs, ...) \
  case Op::op:                              \
    __VA_ARGS__ break;
#define OVERFLOWS(condition) return condition;
#include "ops/table.def"
    default:
      break;
  }
  return false;
}

bool underflows(Op op) {
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...) \
  case Op::op:                              \
    __VA_ARGS__ break;
#define UNDERFLOWS return true;
#include "ops/table.def"
    default:
      break;
  }
  return false;
}

bool all_finite(std::span<const ChunkOperand> in, int k) {
  return std::all_of(in.begin(), in.end(), [k](const ChunkOperand& x) {
    return x.tracks.integer || std::fabs(x.lanes->t[k]) <= kLargest;
  });
}

/// Of an addition: the ends of the sum that a kernel makes when it starts a sum with what is added
/// to it. The error of a sum tells how large the magnitudes of its terms are at most.
SumEnds joined_ends(const PointSpec& spec, std::span<const ChunkOperand> in, int k) {
  SumEnds ends;
  ends.apart = true;
  for (const int which : {0, 1}) {
    const ChunkOperand& x = in[static_cast<size_t>(which)];
    const bool is_sum = (which == 0 ? spec.joins_z : spec.joins_x) > 0;
    const double t = (which == 1 && spec.op == Op::Sub ? -1 : 1) * x.lanes->t[k];
    if (!(std::fabs(t) <= kLargest)) continue;
    const double terms = is_sum ? magnitudes_within(a_of(x)[k], spec.rounding.unit) : 0;
    double size = terms <= kLargest ? std::max(terms, std::fabs(t)) : std::fabs(t);
    // Of a sum with an infinite term the other terms are not known.
    if (!all_finite(in, k)) size *= 2;
    ends.up += (size + t) / 2;
    ends.down += (size - t) / 2;
  }
  return ends;
}

/// Returns the bits of Beyond of one result, after applying the limits.
uint8_t limit_one(const PointSpec& spec, std::span<const ChunkOperand> in, int k,
                  VectorLanes& out) {
  TrackedValue y = {out.t[k], spec.tracks.a ? out.a[k] : 0, spec.tracks.h ? out.h[k] : 0};
  uint8_t found = 0;
  if (std::isinf(y.t) && overflows(spec, in, k) && all_finite(in, k)) {
    found = kBeyondPath;
    const bool applies = (spec.range.clamp & kBeyondPath) != 0;
    y.a = applies ? 0 : kInfinity;
    if (applies) y.h = 0;
    if (!applies) spec.findings->unbounded = true;
  } else {
    // An op's own rounding does not leave the range: only the errors of its operands may.
    Rounding r = spec.rounding;
    r.limit = r.half_limit = kInfinity;
    const double own_a = with_path_rounding(y.t, 0, r, spec.errors);
    const double own_h = with_half_rounding(y.t, 0, r);
    TrackedValue from = {y.t, std::max(y.a - own_a, 0.0), std::max(y.h - own_h, 0.0)};
    const bool joins = spec.joins_x + spec.joins_z > 0;
    const SumEnds ends = joins ? joined_ends(spec, in, k) : SumEnds{};
    found = ends.up + ends.down > spec.range.path ? limit_sum(spec.range, ends, from)
                                                  : limit_value(spec.range, from);
    if (!(from.t == y.t)) y = from;
  }
  out.t[k] = y.t;
  if (spec.tracks.a) out.a[k] = y.a;
  if (spec.tracks.h) out.h[k] = y.h;
  return found;
}

}  // namespace

bool joins_far(const PointSpec& spec, std::span<const ChunkOperand> in, int count) {
  if (spec.joins_x + spec.joins_z == 0) return false;
  const double unit = spec.rounding.unit, path = spec.range.path;
  const double *x = in[0].lanes->t, *z = in[1].lanes->t, *ax = a_of(in[0]), *az = a_of(in[1]);
  int far = 0;
  for (int k = 0; k < count; ++k)
    far |= !(std::fabs(x[k]) + std::fabs(z[k]) + magnitudes_within(ax[k] + az[k], unit) <= path);
  return far != 0;
}

void limit_range(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out) {
  uint8_t found = 0;
  for (int k = 0; k < count; ++k) found |= limit_one(spec, in, k, out);
  spec.findings->mark(spec.node, found);
}

void doubt_zeros(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out) {
  if (!underflows(spec.op) || !spec.tracks.a) return;
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (int k = 0; k < count; ++k) {
    if (out.t[k] != 0 || !(std::fabs(in[0].lanes->t[k]) <= kLargest)) continue;
    out.a[k] = std::max(out.a[k], kLeast);
  }
}

}  // namespace kw::truth
