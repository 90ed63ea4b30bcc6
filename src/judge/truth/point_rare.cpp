// The problem: step functions, powers, remainders and signs are discontinuous or have poles. Near a
// step the error becomes a jump: the result may be any value between both sides. Elsewhere the
// error passes by a derivative when the errors are small, otherwise by evaluating the function at
// the ends. The alternative, a derivative everywhere, would give wrong bounds at poles and steps.
// The cost is scalar code without vectors; these ops are rare.
#include "truth/point_rare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "truth/scalar.h"
#include "truth/swing.h"

namespace kw::truth {

using graph::Op;
using tensor::DType;

namespace {}

double reach_of(const ChunkOperand& x, int k) {
  return ports::bound_constants().path_factor * a_of(x)[k] + h_of(x)[k];
}

void open_jumps(int count, VectorLanes& out) {
  if (out.jumps) return;
  std::fill_n(out.lo, count, 0.0);
  std::fill_n(out.hi, count, 0.0);
  out.jumps = true;
}

namespace {

// The result may be any value between `low` and `high`.
void may_be(double low, double high, double y, int k, int count, VectorLanes& out) {
  const double down = low < y ? y - low : 0, up = high > y ? high - y : 0;
  if (down == 0 && up == 0) return;
  open_jumps(count, out);
  out.lo[k] = std::max(out.lo[k], down);
  out.hi[k] = std::max(out.hi[k], up);
}

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
  for (int k = 0; k < count; ++k) {
    const double v = x.lanes->t[k], reach = reach_of(x, k);
    if (reach == 0 || (!std::isfinite(v) && reach < kInfinity)) continue;
    if (reach == kInfinity && spec.to == DType::Bool) {
      may_be(0, 1, static_cast<double>(out.i[k]), k, count, out);
      continue;
    }
    if (reach == kInfinity) {
      may_be(-kInfinity, kInfinity, 0, k, count, out);
      continue;
    }
    const double y = step_value(spec, v);
    const double below = step_value(spec, v - reach), above = step_value(spec, v + reach);
    // In a cast to bool, only the point 0 differs from both sides.
    const bool spans_zero = spec.to == DType::Bool && std::fabs(v) <= reach;
    const double low = spans_zero ? 0 : std::min(below, above);
    may_be(low, std::max(below, above), y, k, count, out);
  }
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
      spec.findings->out_of_range = true;
      may_be(-kInfinity, kInfinity, 0, k, count, out);
      continue;
    }
    const double q = tx / tz;
    const double e =
        (ex + std::fabs(q) * ez) / std::fabs(tz) + 4 * spec.rounding.unit * std::fabs(q);
    may_be(std::floor(q - e), std::floor(q + e), y, k, count, out);
  }
}

}  // namespace

void step(const PointSpec& spec, std::span<const ChunkOperand> in, int count, VectorLanes& out) {
  if (spec.op == Op::FloorDiv) return floor_divisions(spec, in[0], in[1], count, out);
  one_step(spec, in[0], count, out);
}

namespace {

// The error of pow: by its derivatives if the errors are small, otherwise by evaluation.
double pow_error(double x, double z, double y, double ex, double ez, double overflow) {
  if (ex == 0 && ez == 0) return 0;
  // Negative numbers have only whole powers; the exponent may or may not be whole.
  if (x < 0 && ez > 0 && std::floor(z + ez) >= std::ceil(z - ez)) return kInfinity;
  const bool small = x > 0 && ex <= 0x1p-6 * x && ez <= 0x1p-6;
  if (small && std::isfinite(y) && std::fabs(z) * ex <= 0x1p-6 * x)
    return std::fabs(z * y / x) * ex + std::fabs(y * std::log(x)) * ez;
  return swing([&](double v) { return std::pow(v, z); }, x, y, ex, overflow) +
         swing([&](double v) { return std::pow(x, v); }, z, y, ez, overflow);
}

void powers(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
            VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double tx = x.lanes->t[k], tz = z.lanes->t[k];
    const double y = out.t[k] = tz == 2 ? tx * tx : std::pow(tx, tz);
    if (spec.tracks.a) {
      // x^z = 2^(z log2 x), and the exponent is rounded.
      const double exponent = finite_magnitude(tz * std::log(std::fabs(tx)));
      out.a[k] =
          pow_error(tx, tz, y, kPathFactor * a_of(x)[k], kPathFactor * a_of(z)[k], kPathOverflow) /
              kPathFactor +
          spec.rounding.unit * exponent * finite_magnitude(y);
    }
    if (spec.tracks.h) out.h[k] = pow_error(tx, tz, y, h_of(x)[k], h_of(z)[k], kHalfOverflow);
  }
}

// The remainder of x / z: near a multiple of z the result may differ by z.
void remainders(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double tx = x.lanes->t[k], tz = z.lanes->t[k];
    const double y = out.t[k] = apply(spec.op, tx, tz);
    const double wholes = finite_magnitude(std::trunc(tx / tz)) + 1;
    const double ez = reach_of(z, k);
    const bool nothing = ez > 0 && ez >= std::fabs(tz);  // the divisor may be zero
    const auto error = [&](const double* own_x, const double* own_z) {
      if (nothing) return kInfinity;
      return own_z[k] == 0 ? own_x[k] : own_x[k] + wholes * own_z[k];
    };
    if (spec.tracks.a) out.a[k] = error(a_of(x), a_of(z));
    if (spec.tracks.h) out.h[k] = error(h_of(x), h_of(z));
    const double reach = reach_of(x, k) + (ez == 0 ? 0 : wholes * ez);
    if (reach == 0 || !std::isfinite(y) || !std::isfinite(tz)) continue;
    const double size = std::fabs(tz), part = std::fabs(y);
    if (part > reach && size - part > reach) continue;
    const double sign = y != 0 ? std::copysign(1.0, y) : std::copysign(1.0, tz);
    const double other = part <= reach ? y + sign * size : y - sign * size;
    may_be(std::min(y, other), std::max(y, other), y, k, count, out);
    if (spec.op == Op::Fmod && part <= reach) may_be(y - size, y + size, y, k, count, out);
  }
}

void copy_signs(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double y = out.t[k] = std::copysign(x.lanes->t[k], z.lanes->t[k]);
    if (spec.tracks.a) out.a[k] = a_of(x)[k];
    if (spec.tracks.h) out.h[k] = h_of(x)[k];
    const double reach = reach_of(z, k);
    const bool open = std::isnan(z.lanes->t[k]);  // the sign of a NaN is undefined
    if (open || (reach > 0 && std::fabs(z.lanes->t[k]) <= reach))
      may_be(-std::fabs(y), std::fabs(y), y, k, count, out);
  }
}

// Smooth in both arguments, except that atan2 jumps at the negative x axis.
void by_trying(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
               VectorLanes& out) {
  const Op op = spec.op;
  for (int k = 0; k < count; ++k) {
    const double tx = x.lanes->t[k], tz = z.lanes->t[k];
    const double y = out.t[k] = apply(op, tx, tz);
    const bool turns = op == Op::Atan2 && tz <= reach_of(z, k) && std::fabs(tx) <= reach_of(x, k) &&
                       reach_of(x, k) > 0;
    if (turns) may_be(-M_PI, M_PI, y, k, count, out);
    const auto error = [&](double ex, double ez, double overflow) {
      if (turns) return 0.0;
      return swing([&](double v) { return apply(op, v, tz); }, tx, y, ex, overflow) +
             swing([&](double v) { return apply(op, tx, v); }, tz, y, ez, overflow);
    };
    if (spec.tracks.a)
      out.a[k] =
          error(kPathFactor * a_of(x)[k], kPathFactor * a_of(z)[k], kPathOverflow) / kPathFactor;
    if (spec.tracks.h) out.h[k] = error(h_of(x)[k], h_of(z)[k], kHalfOverflow);
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
