// The problem: an operand near a discontinuity has other possible values far from its own; the
// result has them too. The op is evaluated at the ends of each operand's jump, and the result's
// jump is widened to include them. For ops that are not monotonic between the ends, a rule per op
// says what may lie between. The alternative, interval arithmetic for every element, would be slow
// and too wide. The cost is paid only at elements that jump, usually few. Without a better rule the
// jump becomes infinite.
#include <algorithm>
#include <cmath>
#include <limits>

#include "truth/point_rare.h"
#include "truth/scalar.h"

namespace kw::truth {

using graph::Op;
using tensor::DType;

namespace {

double value_of(const ChunkOperand& x, DType type, int k) {
  return x.tracks.integer ? to_double(x.lanes->i[k], type) : x.lanes->t[k];
}

double low_jump(const ChunkOperand& x, int k) { return x.lanes->jumps ? x.lanes->lo[k] : 0; }
double high_jump(const ChunkOperand& x, int k) { return x.lanes->jumps ? x.lanes->hi[k] : 0; }
bool jumps_at(const ChunkOperand& x, int k) { return low_jump(x, k) > 0 || high_jump(x, k) > 0; }

// The value of one operand and the ends of its jump.
struct Ends {
  double at[3];
  int count;
};

Ends ends_of(const ChunkOperand& x, DType type, int k) {
  const double v = value_of(x, type, k), lo = low_jump(x, k), hi = high_jump(x, k);
  Ends ends{{v, 0, 0}, 1};
  if (lo > 0) ends.at[ends.count++] = v - lo;
  if (hi > 0) ends.at[ends.count++] = v + hi;
  return ends;
}

// If the op has steps, another branch may lie next to a step too. The ends are therefore moved
// outwards by the operand's errors.
Ends reached_ends(const ChunkOperand& x, DType type, int k) {
  const double v = value_of(x, type, k), reach = x.tracks.integer ? 0 : reach_of(x, k);
  const double lo = low_jump(x, k) + reach, hi = high_jump(x, k) + reach;
  Ends ends{{v, 0, 0}, 1};
  if (lo > 0) ends.at[ends.count++] = v - lo;
  if (hi > 0) ends.at[ends.count++] = v + hi;
  return ends;
}

bool has_steps(const PointSpec& spec, bool floats) {
  switch (spec.op) {
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
    case Op::FloorDiv:
      return floats;
    case Op::Cast:
      return floats && spec.tracks.integer;
    default:
      return false;
  }
}

double evaluate(const PointSpec& spec, bool floats, double x, double z, size_t operands) {
  const Op op = spec.op;
  if (op >= Op::Eq && op <= Op::Ge) return compare(op, x, z) ? 1 : 0;
  if (op == Op::Cast) {
    if (spec.to == DType::Bool) return x != 0 ? 1 : 0;
    return spec.tracks.integer ? std::trunc(x) : x;
  }
  if (floats && op == Op::IsNan) return std::isnan(x) ? 1 : 0;
  if (floats && op == Op::IsInf) return std::isinf(x) ? 1 : 0;
  if (floats && op == Op::Not) return x == 0 ? 1 : 0;
  if (floats) return operands == 1 ? apply(op, x) : apply(op, x, z);
  const int64_t i = to_integer(x, DType::Int64), j = to_integer(z, DType::Int64);
  return to_double(operands == 1 ? apply(op, i, spec.to) : apply(op, i, j, spec.to), spec.to);
}

void widen(double other, double y, int k, VectorLanes& out) {
  if (other == y || (std::isnan(y) && std::isnan(other))) return;
  if (std::isnan(other) || std::isnan(y)) {
    out.lo[k] = out.hi[k] = kInfinity;
    return;
  }
  if (other < y) out.lo[k] = std::max(out.lo[k], y - other);
  if (other > y) out.hi[k] = std::max(out.hi[k], other - y);
}

void carry_choice(std::span<const ChunkOperand> in, const PointSpec& spec, int k,
                  VectorLanes& out) {
  const bool first = in[0].lanes->i[k] != 0;
  const ChunkOperand &chosen = first ? in[1] : in[2], &other = first ? in[2] : in[1];
  out.lo[k] = low_jump(chosen, k);
  out.hi[k] = high_jump(chosen, k);
  if (!jumps_at(in[0], k)) return;
  const double y = value_of(chosen, spec.to, k);
  const Ends ends = ends_of(other, spec.to, k);
  for (int e = 0; e < ends.count; ++e) widen(ends.at[e], y, k, out);
  if (spec.tracks.a) out.a[k] = std::max(a_of(chosen)[k], a_of(other)[k]);
  if (spec.tracks.h) out.h[k] = std::max(h_of(chosen)[k], h_of(other)[k]);
}

// Returns whether the only other values are the ends themselves.
bool one_apart(std::span<const ChunkOperand> in, int k) {
  return std::all_of(in.begin(), in.end(), [&](const ChunkOperand& x) {
    return x.tracks.integer && low_jump(x, k) + high_jump(x, k) <= 1;
  });
}

// Returns whether the operand may be zero or change its sign.
bool spans_zero(const ChunkOperand& x, DType type, int k) {
  const double v = value_of(x, type, k);
  return v - low_jump(x, k) <= 0 && v + high_jump(x, k) >= 0;
}

// Returns whether a result between the ends may exceed the integer type and wrap around.
bool wraps(const PointSpec& spec, std::span<const ChunkOperand> in, int k) {
  const Ends xs = ends_of(in[0], spec.from, k);
  const Ends zs = in.size() > 1 ? ends_of(in[1], spec.from, k) : Ends{{0, 0, 0}, 1};
  const double bits = 8 * tensor::dtype_size(spec.to);
  const bool is_signed = wrapped(spec.to, -1) == -1 && spec.to != DType::Uint64;
  const double low = is_signed ? -std::exp2(bits - 1) : 0;
  const double high = std::exp2(is_signed ? bits - 1 : bits);
  for (int p = 0; p < xs.count; ++p) {
    for (int q = 0; q < zs.count; ++q) {
      const double y =
          in.size() == 1 ? apply(spec.op, xs.at[p]) : apply(spec.op, xs.at[p], zs.at[q]);
      if (!(y >= low && y < high)) return true;
    }
  }
  return false;
}

void carry_remainder(const PointSpec& spec, std::span<const ChunkOperand> in, double y, int k,
                     VectorLanes& out) {
  if (jumps_at(in[1], k)) return widen(std::numeric_limits<double>::quiet_NaN(), y, k, out);
  const double z = value_of(in[1], spec.from, k), size = std::fabs(z);
  const bool both = spec.op == Op::Fmod;
  widen(both || z < 0 ? -size : 0, y, k, out);
  widen(both || z > 0 ? size : 0, y, k, out);
}

// Handles ops whose ends do not bound the values between them. Returns false if the ends must still
// be evaluated.
bool carry_between(const PointSpec& spec, std::span<const ChunkOperand> in, double y, int k,
                   VectorLanes& out) {
  if (one_apart(in, k)) return false;
  const auto zero = [&](const ChunkOperand& x) { return spans_zero(x, spec.from, k); };
  switch (spec.op) {
    case Op::Cast:
    case Op::Not:
      // Zero may lie between two ends that are not zero.
      if (spec.to == DType::Bool && zero(in[0])) widen(spec.op == Op::Not ? 1 : 0, y, k, out);
      return false;
    case Op::Neg:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
      if (!spec.tracks.integer || !wraps(spec, in, k)) return false;
      widen(std::numeric_limits<double>::quiet_NaN(), y, k, out);
      return true;
    case Op::Eq:
    case Op::Ne:
      widen(1 - y, y, k, out);
      return true;
    case Op::Remainder:
    case Op::Fmod:
      carry_remainder(spec, in, y, k, out);
      return true;
    default:
      break;
  }
  const ops::Between between = graph::op_info(spec.op).between;
  switch (between) {
    case ops::Between::ByEnds:
      return false;
    case ops::Between::OverZero:
    case ops::Between::OverOne:
      if (std::any_of(in.begin(), in.end(), zero))
        widen(between == ops::Between::OverOne ? 1 : 0, y, k, out);
      return false;
    case ops::Between::Wave:
      widen(-1, y, k, out);
      widen(1, y, k, out);
      return true;
    case ops::Between::Pole:
      if (!zero(in.back()) || !jumps_at(in.back(), k)) return false;
      break;
    default:
      break;
  }
  widen(std::numeric_limits<double>::quiet_NaN(), y, k, out);  // any value
  return true;
}

// A double cannot tell such large integers from their neighbours, so a step of one must not be
// lost. Example: negating the least int64 and its neighbour gives the two ends of the type.
void keep_steps(double y, int k, VectorLanes& out) {
  constexpr double kExact = 0x1p53, kSpacing = 0x1p-52;
  const double step = std::fabs(y) * kSpacing;
  if (std::fabs(y) < kExact) return;
  out.lo[k] = std::max(out.lo[k], step);
  out.hi[k] = std::max(out.hi[k], step);
}

void carry_one(const PointSpec& spec, std::span<const ChunkOperand> in, int k, VectorLanes& out) {
  if (spec.op == Op::Where) return carry_choice(in, spec, k, out);
  const double y = spec.tracks.integer ? to_double(out.i[k], spec.to) : out.t[k];
  if (carry_between(spec, in, y, k, out)) return;
  if (spec.op >= Op::Maximum && spec.op <= Op::Fmin) {
    // The other branch is the other operand, with its own errors.
    if (spec.tracks.a) out.a[k] = std::max(a_of(in[0])[k], a_of(in[1])[k]);
    if (spec.tracks.h) out.h[k] = std::max(h_of(in[0])[k], h_of(in[1])[k]);
  }
  const bool floats = !in[0].tracks.integer;
  const auto ends = has_steps(spec, floats) ? reached_ends : ends_of;
  const Ends xs = ends(in[0], spec.from, k);
  const Ends zs = in.size() > 1 ? ends(in[1], spec.from, k) : Ends{{0, 0, 0}, 1};
  for (int p = 0; p < xs.count; ++p) {
    for (int q = 0; q < zs.count; ++q) {
      if ((p == 0 && q == 0) || (spec.same && p != q)) continue;
      widen(evaluate(spec, floats, xs.at[p], zs.at[q], in.size()), y, k, out);
    }
  }
  if (spec.tracks.integer) keep_steps(y, k, out);
}

}  // namespace

void carry_jumps(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out) {
  open_jumps(count, out);
  // A result far from the truth also has a larger rounding error.
  const double rounding =
      2 * spec.rounding.half_unit + 8 * spec.errors.relative * spec.rounding.unit;
  for (int k = 0; k < count; ++k) {
    const bool here =
        std::any_of(in.begin(), in.end(), [&](const ChunkOperand& x) { return jumps_at(x, k); });
    if (!here) continue;
    carry_one(spec, in, k, out);
    out.lo[k] *= 1 + rounding;
    out.hi[k] *= 1 + rounding;
    if (out.lo[k] == kInfinity || out.hi[k] == kInfinity) spec.findings->out_of_range = true;
  }
}

}  // namespace kw::truth
