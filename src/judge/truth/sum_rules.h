// The rules of docs/error-bound.md for sums, scans, matrix products and the largest of many, after
// all terms were added. Kernels of large truths contain this file as text, after rules.h.
#ifndef KW_ON_DEVICE
#pragma once

#include "truth/rules.h"
#endif

namespace kw::truth {

/// What is known of a sum: `size` adds magnitudes, `a` errors, `squares` squared half errors.
struct Summed {
  double t, size, a, squares;
};

/// The rounding of a tree of additions, in units.
KW_HD double tree_units(double root, double size) { return (kSumRoot * root + kSumPlus) * size; }

/// The magnitudes of a sum's terms, at most, from the error of the sum.
KW_HD double magnitudes_within(double a, double unit) { return a / (unit * tree_units(1, 1)); }

/// `chain`: the error of a chain of all terms, in units of the sum.
KW_HD TrackedValue sum_result(const Summed& s, double count, double chain, const Rounding& r) {
  TrackedValue y = {s.t, s.a, sqrt(s.squares)};
  const bool finite = fabs(s.t) <= kLargest;
  if (count > 1) {
    y.h *= kHalfSum;
    if (finite) {
      y.a += r.unit * larger(tree_units(sqrt(count), s.size), chain * fabs(s.t));
      y.h += r.half_unit * fabs(s.t) + (s.t != 0 ? r.half_tiny : 0);
    }
  }
  if (s.size > r.limit) y.a = infinity();
  if (finite && fabs(s.t) + y.h > r.half_limit) y.h = infinity();
  return y;
}

/// One partial sum of a scan. `passed` adds the magnitudes of all partial sums: a serial scan
/// rounds every one, possibly all in the same direction.
KW_HD TrackedValue scan_result(const Summed& s, double count, double passed, const Rounding& r) {
  const double m = finite_magnitude(s.t);
  TrackedValue y = {s.t, s.a, sqrt(s.squares)};
  if (count > 1) {
    const double tree = tree_units(sqrt(count), s.size), serial = passed / kPathFactor;
    if (s.size <= kLargest) y.a += r.unit * (tree < serial ? serial : tree);
    y.h = kHalfSum * y.h + r.half_unit * m + (m > 0 ? r.half_tiny : 0);
  }
  if (s.size > r.limit) y.a = infinity();
  if (m + y.h > r.half_limit) y.h = infinity();
  return y;
}

/// The result of a matrix product has `count` terms that are not certainly zero; `root` is the
/// square root of that. `cut` adds the squares of products that TF32 may round. `unknown`: some
/// error is infinite, or the magnitudes overflow.
KW_HD TrackedValue product_result(const Summed& s, double count, double root, double cut, bool tf32,
                                  bool flush, bool unknown, const Rounding& r) {
  const double m = fabs(s.t);
  // Usually one thread adds all products of an element; equal products round the same way.
  const double tree = tree_units(root, s.size), chain = count / kPathFactor * m;
  // Products below the normal range have an absolute rounding error each.
  const double below = s.size > 0 ? r.tiny * (flush ? count : root) : 0;
  TrackedValue y = {s.t, s.a + r.unit * larger(tree, chain) + below, kHalfSum * sqrt(s.squares)};
  y.h += r.half_unit * m + (m > 0 ? r.half_tiny : 0);
  // Each factor may be rounded or truncated to ten bits of mantissa.
  if (tf32) y.h += kHalfSum * 0x1p-10 * sqrt(cut) + 0x1p-9 * m;
  if (m + y.h > r.half_limit) y.h = infinity();
  if (unknown || !(m <= kLargest)) y.a = infinity();
  return y;
}

/// The upper end of a value, which is infinite if and only if its error is.
KW_HD double upper_end(double x, double e) {
  const double above = x > -kLargest ? x : -kLargest;
  return (above < kLargest ? above : kLargest) + e;
}

/// The error of the largest of many, m: `up` and `down` are the largest upper and lower ends. An
/// infinity or NaN is certain unless some error is infinite.
KW_HD double spread_of(double m, double up, double down) {
  const double open = up == infinity() ? infinity() : 0;
  return fabs(m) <= kLargest ? larger(up - m, m - down) : open;
}

}  // namespace kw::truth
