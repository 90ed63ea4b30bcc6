// The problem: step functions, powers, remainders and signs are discontinuous or have poles. Near a
// step the error becomes a jump: the result may be any value between both sides. Elsewhere the
// error passes by a derivative when the errors are small, otherwise by evaluating the function at
// the ends. The alternative, a derivative everywhere, would give wrong bounds at poles and steps.
// The cost is scalar code without vectors; these ops are rare.
#include "truth/point_rare.h"

#include <algorithm>
#include <cmath>

#include "ports/bound.h"
#include "truth/scalar.h"

namespace kw::truth {

double reach_of(const ChunkOperand& x, int k) { return reach(a_of(x)[k], h_of(x)[k]); }

void open_jumps(int count, VectorLanes& out) {
  if (out.jumps) return;
  std::fill_n(out.lo, count, 0.0);
  std::fill_n(out.hi, count, 0.0);
  out.jumps = true;
}

void add_jump(const Jump& j, int k, int count, VectorLanes& out) {
  if (!jumps(j)) return;
  open_jumps(count, out);
  out.lo[k] = std::max(out.lo[k], j.lo);
  out.hi[k] = std::max(out.hi[k], j.hi);
}

namespace {

// Evaluates a step function at one point; the result is a double for every result type.
double step_value(const PointSpec& spec, double v) {
  if (spec.op != Op::Cast) return apply(spec.op, v);
  if (spec.to == DType::Bool) return v != 0 ? 1 : 0;
  return std::trunc(v);
}

void one_step(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double v = x.lanes->t[k];
    if (spec.tracks.integer) {
      out.i[k] = to_integer(v, spec.to);
    } else {
      out.t[k] = apply(spec.op, v);
    }
  }
  if (!x.tracks.a && !x.tracks.h) return;
  const auto value = [&](double v) { return step_value(spec, v); };
  for (int k = 0; k < count; ++k)
    add_jump(stepped(x.lanes->t[k], reach_of(x, k), spec.to == DType::Bool, value), k, count, out);
}

void floor_divisions(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                     VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double tx = x.lanes->t[k], tz = z.lanes->t[k];
    const double y = out.t[k] = apply(Op::FloorDiv, tx, tz);
    // The format cannot hold all large whole numbers.
    const auto missed = [&](DType type, double unit) {
      return rounded(type, y) == y ? 0 : unit * finite_magnitude(y);
    };
    if (spec.tracks.a) out.a[k] = missed(DType::Fp32, spec.rounding.unit);
    if (spec.tracks.h) out.h[k] = missed(spec.to, ports::unit_roundoff(spec.to));
    const double ex = reach_of(x, k), ez = reach_of(z, k);
    if (ex == 0 && ez == 0 && (!std::isfinite(y) || std::fmod(tx, tz) == 0)) continue;
    // The divisor may be zero, or the quotient is not finite.
    if (ez >= std::fabs(tz) || !std::isfinite(y) || ex == kInfinity) {
      spec.findings->unbounded = true;
      add_jump(anywhere(), k, count, out);
      continue;
    }
    const double q = tx / tz;
    const double e =
        (ex + std::fabs(q) * ez) / std::fabs(tz) + 4 * spec.rounding.unit * std::fabs(q);
    add_jump(may_be(std::floor(q - e), std::floor(q + e), y), k, count, out);
  }
}

}  // namespace

void step(const PointSpec& spec, std::span<const ChunkOperand> in, int count, VectorLanes& out) {
  if (spec.op == Op::FloorDiv) return floor_divisions(spec, in[0], in[1], count, out);
  one_step(spec, in[0], count, out);
}

void snap(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out) {
  const auto value = [&](double v) { return snapped(spec.to, v); };
  for (int k = 0; k < count; ++k) {
    const double v = x.tracks.integer ? to_double(x.lanes->i[k], spec.from) : x.lanes->t[k];
    const double e = x.tracks.integer ? 0 : reach_of(x, k);
    out.t[k] = value(v);
    const uint8_t found = limit_snapped(spec.range, v, e, out.t[k]);
    if (found != 0) spec.findings->mark(spec.node, found);
    if (std::fabs(v) > spec.range.half) continue;
    if (e == kInfinity) spec.findings->unbounded = true;
    add_jump(stepped(v, e, false, value), k, count, out);
  }
}

namespace {

TrackedValue value_at(const ChunkOperand& x, int k) {
  return {x.lanes->t[k], a_of(x)[k], h_of(x)[k]};
}

void powers(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
            VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const TrackedValue y =
        power_of(value_at(x, k), value_at(z, k), spec.rounding, spec.tracks.a, spec.tracks.h);
    out.t[k] = y.t;
    if (spec.tracks.a) out.a[k] = y.a;
    if (spec.tracks.h) out.h[k] = y.h;
  }
}

// The remainder of x / z: near a multiple of z the result may differ by z.
void remainders(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double tx = x.lanes->t[k], tz = z.lanes->t[k];
    const double y = out.t[k] = apply(spec.op, tx, tz);
    // Infinite if fp64 cannot hold the quotient.
    const double wholes = std::isfinite(tx) && tz != 0 ? std::fabs(std::trunc(tx / tz)) + 1 : 1;
    const double ez = reach_of(z, k);
    const bool nothing = ez > 0 && ez >= std::fabs(tz);  // the divisor may be zero
    const double most = 2 * (std::fabs(tz) + ez);        // remainders are not further apart
    const auto error = [&](double own_x, double own_z, double factor) {
      if (nothing || own_x == kInfinity) return kInfinity;
      return own_z == 0 ? own_x : std::min(own_x + wholes * own_z, most / factor);
    };
    if (spec.tracks.a) out.a[k] = error(a_of(x)[k], a_of(z)[k], kPathFactor);
    if (spec.tracks.h) out.h[k] = error(h_of(x)[k], h_of(z)[k], 1);
    const double e = reach_of(x, k) + (ez == 0 ? 0 : wholes * ez);
    if (e == 0 || !std::isfinite(y) || !std::isfinite(tz)) continue;
    const double size = std::fabs(tz), part = std::fabs(y);
    if (part > e && size - part > e) continue;
    const double sign = y != 0 ? std::copysign(1.0, y) : std::copysign(1.0, tz);
    const double other = part <= e ? y + sign * size : y - sign * size;
    add_jump(may_be(std::min(y, other), std::max(y, other), y), k, count, out);
    if (spec.op == Op::Fmod && part <= e) add_jump(may_be(y - size, y + size, y), k, count, out);
  }
}

void copy_signs(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double y = out.t[k] = std::copysign(x.lanes->t[k], z.lanes->t[k]);
    if (spec.tracks.a) out.a[k] = a_of(x)[k];
    if (spec.tracks.h) out.h[k] = h_of(x)[k];
    if (may_change_sign(z.lanes->t[k], reach_of(z, k)))
      add_jump(may_be(-std::fabs(y), std::fabs(y), y), k, count, out);
  }
}

// Smooth in both arguments, except that atan2 jumps at the negative x axis.
void by_trying(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
               VectorLanes& out) {
  const Op op = spec.op;
  for (int k = 0; k < count; ++k) {
    const double tx = x.lanes->t[k], tz = z.lanes->t[k];
    const double y = out.t[k] = apply(op, tx, tz);
    const bool turns = op == Op::Atan2 && may_turn(tx, tz, reach_of(x, k), reach_of(z, k));
    if (turns) add_jump(may_be(-M_PI, M_PI, y), k, count, out);
    const auto error = [&](double ex, double ez) {
      const auto value = [op](double v, double w) { return apply(op, v, w); };
      return turns ? 0.0 : tried_error(value, tx, tz, y, ex, ez);
    };
    if (spec.tracks.a)
      out.a[k] = error(kPathFactor * a_of(x)[k], kPathFactor * a_of(z)[k]) / kPathFactor;
    if (spec.tracks.h) out.h[k] = error(h_of(x)[k], h_of(z)[k]);
  }
}

}  // namespace

void rare_binary(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                 VectorLanes& out) {
  switch (spec.op) {
    case Op::Pow:
      return powers(spec, x, z, count, out);
    case Op::Fmod:
    case Op::Remainder:
      return remainders(spec, x, z, count, out);
    case Op::Copysign:
      return copy_signs(spec, x, z, count, out);
    default:
      return by_trying(spec, x, z, count, out);
  }
}

}  // namespace kw::truth
