// Near discontinuities, for one element: where jumps begin, and how they pass through ops. Kernels
// of large truths contain this file as text, after rules.h. The reductions of each side add jumps
// to states of their own.
#ifndef KW_ON_DEVICE
#pragma once

#include "truth/rules.h"
#endif

namespace kw::truth {

/// How far below and above its value another branch of an element lies.
struct Jump {
  double lo, hi;
};
/// The element may be any value.
KW_HD Jump anywhere() { return {infinity(), infinity()}; }

KW_HD bool jumps(const Jump& j) { return j.lo > 0 || j.hi > 0; }
KW_HD bool is_open(const Jump& j) { return j.lo == infinity() || j.hi == infinity(); }
KW_HD double furthest(const Jump& j) { return larger(j.hi, j.lo); }
/// How far x may rise (`sign` 1) or fall (-1) by its jump; an infinity or NaN, how far it may go.
KW_HD double rise_of(double x, const Jump& j, double sign) {
  if (!(fabs(x) <= kLargest)) return furthest(j);
  return sign > 0 ? j.hi : j.lo;
}
KW_HD bool one_apart(const Jump& j) { return j.lo + j.hi <= 1; }
/// Returns whether the element may be zero or change its sign.
KW_HD bool spans_zero(double x, const Jump& j) { return x - j.lo <= 0 && x + j.hi >= 0; }

// --- where jumps come from ---------------------------------------------------------------------

/// The result y may be any value between `low` and `high`.
KW_HD Jump may_be(double low, double high, double y) {
  return {low < y ? y - low : 0, high > y ? high - y : 0};
}
/// The result is 0 or 1, and may be the other.
KW_HD Jump flipped(bool y, bool possible) {
  return {possible && y ? 1.0 : 0.0, possible && !y ? 1.0 : 0.0};
}
KW_HD bool may_be_zero(double x, double e) { return e > 0 && fabs(x) <= e; }
/// Returns whether errors that add up to e may change the order of x and z.
KW_HD bool may_swap(double x, double z, double e) {
  return e == infinity() || (e > 0 && fabs(x - z) <= e);
}
/// A value equals itself, unless it may be NaN.
KW_HD bool may_flip(double x, double z, double e, bool same) {
  return same ? e == infinity() : may_swap(x, z, e);
}

/// The sign of copysign: that of a NaN is undefined.
KW_HD bool may_change_sign(double z, double e) { return z != z || may_be_zero(z, e); }
/// Atan2 jumps at the negative x axis.
KW_HD bool may_turn(double x, double z, double ex, double ez) {
  return z <= ez && fabs(x) <= ex && ex > 0;
}

/// A step of f within e of x. In a cast to bool, only the point 0 differs from both sides.
template <class F>
KW_HD Jump stepped(double x, double e, bool to_bool, F f) {
  const double m = fabs(x);
  if (e == 0 || (!(m <= kLargest) && e < infinity())) return {0, 0};
  const double y = f(x);
  if (e == infinity() && to_bool) return flipped(y != 0, true);
  if (e == infinity()) return {infinity(), infinity()};
  const double below = f(x - e), above = f(x + e);
  const double low = to_bool && m <= e ? 0 : (above < below ? above : below);
  return may_be(low, below < above ? above : below, y);
}

// --- how they travel ---------------------------------------------------------------------------

KW_HD void widen(Jump& j, double other, double y) {
  if (other == y || (y != y && other != other)) return;
  if (other != other || y != y) {
    j.lo = j.hi = infinity();
    return;
  }
  if (other < y) j.lo = larger(y - other, j.lo);
  if (other > y) j.hi = larger(other - y, j.hi);
}

/// If the op has steps, another branch may lie next to a step too. The ends are therefore moved
/// outwards by the operand's errors.
KW_HD Jump reached(const Jump& j, double e) { return {j.lo + e, j.hi + e}; }

/// The three ends of an operand: its value (0), below (1), above (2).
KW_HD bool has_end(const Jump& j, int end) { return end == 0 || (end == 1 ? j.lo : j.hi) > 0; }
KW_HD double end_of(double x, const Jump& j, int end) {
  // Of an infinite jump also if the value is infinite or NaN.
  const double low = j.lo == infinity() ? -infinity() : x - j.lo;
  const double high = j.hi == infinity() ? infinity() : x + j.hi;
  return end == 0 ? x : (end == 1 ? low : high);
}

template <class F>
KW_HD void carry_ends(Jump& out, double y, double x, const Jump& j, F f) {
  if (j.lo > 0) widen(out, f(end_of(x, j, 1)), y);
  if (j.hi > 0) widen(out, f(end_of(x, j, 2)), y);
}
template <class F>
KW_HD void carry_ends(Jump& out, double y, double x, const Jump& jx, double z, const Jump& jz,
                      bool same, F f) {
#ifdef KW_ON_DEVICE
#pragma unroll 1
#endif
  for (int end = 1; end < 9; ++end) {
    const int p = end / 3, q = end % 3;
    if ((same && p != q) || !has_end(jx, p) || !has_end(jz, q)) continue;
    widen(out, f(end_of(x, jx, p), end_of(z, jz, q)), y);
  }
}

/// Functions of one and of two operands. Ends say what a result may be, but for some shapes.
template <class F>
KW_HD Jump carry(ops::Between kind, Jump out, double y, double x, const Jump& j, F f) {
  const bool over = spans_zero(x, j);
  if (y != y && is_open(j)) return anywhere();
  if (kind == ops::Between::Wave) {
    widen(out, -1, y);
    widen(out, 1, y);
  } else if (kind >= ops::Between::TanPoles || (kind == ops::Between::Pole && over)) {
    return anywhere();
  } else {
    if (over && kind == ops::Between::OverZero) widen(out, 0, y);
    if (over && kind == ops::Between::OverOne) widen(out, 1, y);
    carry_ends(out, y, x, j, f);
  }
  return out;
}
template <class F>
KW_HD Jump carry(ops::Between kind, Jump out, double y, double x, const Jump& jx, double z,
                 const Jump& jz, bool same, F f) {
  const bool pole = kind == ops::Between::Pole && jumps(jz) && spans_zero(z, jz);
  const bool open = y != y && (is_open(jx) || is_open(jz));
  if (kind >= ops::Between::TanPoles || pole || open) return anywhere();
  if (kind == ops::Between::OverZero && (spans_zero(x, jx) || spans_zero(z, jz))) widen(out, 0, y);
  carry_ends(out, y, x, jx, z, jz, same, f);
  return out;
}

/// Between equal and not there is nothing, unless both are `close`: integers one apart at most.
template <class F>
KW_HD Jump carry_comparison(bool equality, bool close, Jump out, double y, double x, const Jump& jx,
                            double z, const Jump& jz, bool same, F f) {
  if (equality && !close) {
    widen(out, 1 - y, y);
  } else {
    carry_ends(out, y, x, jx, z, jz, same, f);
  }
  return out;
}

/// Zero may lie between two ends that are not zero. `ends`: as far as the operand's errors reach.
template <class F>
KW_HD Jump carry_to_bool(Jump out, double y, double x, const Jump& j, const Jump& ends,
                         double at_zero, F f) {
  if (spans_zero(x, j)) widen(out, at_zero, y);
  carry_ends(out, y, x, ends, f);
  return out;
}

/// Where: `chosen` is the operand that the condition takes, `other` the one that it does not.
KW_HD Jump carry_select(bool open, double chosen, const Jump& own, double other,
                        const Jump& others) {
  Jump out = own;
  for (int end = 0; open && end < 3; ++end) {
    if (has_end(others, end)) widen(out, end_of(other, others, end), chosen);
  }
  return out;
}

/// A double cannot distinguish such large integers from their neighbours, so a step of one must not
/// be lost. Example: negating the least int64 and its neighbour gives the two ends of the type.
KW_HD Jump keep_steps(const Jump& j, double y) {
  if (fabs(y) < 0x1p53) return j;
  const double step = fabs(y) * 0x1p-52;
  return {larger(step, j.lo), larger(step, j.hi)};
}

/// A result far from the truth also has a larger rounding error.
KW_HD double jump_scale(const Rounding& r, const OpErrors& own) {
  return 1 + (2 * r.half_unit + 8 * own.relative * r.unit);
}

// --- reductions --------------------------------------------------------------------------------

/// The largest of many is m (of negated values where sign is -1). `up` and `down`: the largest
/// other branch above and below; `certain`: the largest element that has none. An infinity or NaN
/// is certain unless some branch is infinite.
KW_HD Jump choice_jump(double sign, double m, double up, double down, double certain) {
  const double open = up == infinity() ? infinity() : 0;
  if (!(fabs(m) <= kLargest)) return {open, open};
  const double above = (up < m ? m : up) - m, below = m - (down < certain ? certain : down);
  return sign > 0 ? Jump{below, above} : Jump{above, below};
}

}  // namespace kw::truth
