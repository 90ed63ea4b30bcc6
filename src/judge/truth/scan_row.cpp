// The problem: a scan returns every partial result, and a kernel may compute it serially or as a
// tree. The bound therefore takes the larger of the two: the tree rule of sums, and the sum of all
// serial roundings. One pass per line keeps the value and all error terms. The alternative,
// applying the bound of a sum to each prefix, would reject honest serial scans. The cost is scalar
// code, one element after the other.
#include <algorithm>
#include <cmath>
#include <limits>

#include "truth/errors.h"
#include "truth/jump_rules.h"
#include "truth/rows.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

// For log1p(exp(gap)), which is at most log 2: the rounding of both functions and their argument,
// in units.
constexpr double kLogUnits = 8;

// Visits positions in scan order. Writes the state after each element, or before it if exclusive.
template <class Write, class Take>
void walk(const RowTask& task, size_t length, Write write, Take take) {
  for (size_t step = 0; step < length; ++step) {
    const size_t k = task.node.attrs.reverse ? length - 1 - step : step;
    if (task.node.attrs.exclusive) write(k);
    take(k);
    if (!task.node.attrs.exclusive) write(k);
  }
}

void scan_integers(const RowTask& task, const Row& in, Row& out) {
  const bool sums = task.node.op == Op::CumSum, products = task.node.op == Op::CumProd;
  const Op op =
      sums ? Op::Add
           : (products ? Op::Mul : (task.node.op == Op::CumMax ? Op::Maximum : Op::Minimum));
  int64_t state = products ? 1 : 0;
  bool first = !sums && !products;
  double lo = 0, hi = 0;
  walk(
      task, in.size(),
      [&](size_t k) {
        out.i[k] = state;
        out.set_jump(k, lo, hi);
      },
      [&](size_t k) {
        state = first ? in.i[k] : apply(op, state, in.i[k], task.node.dtype);
        first = false;
        if (!in.jumps) return;
        lo = sums ? lo + in.lo[k] : std::max(lo, in.lo[k]);
        hi = sums ? hi + in.hi[k] : std::max(hi, in.hi[k]);
        if (products && (lo > 0 || hi > 0)) lo = hi = kInfinity;  // products wrap
      });
}

void scan_sum(const RowTask& task, const Row& in, Row& out) {
  double t = 0, size = 0, net = 0, passed = 0, a = 0, squares = 0, lo = 0, hi = 0;
  float f = 0;
  int64_t count = 0;
  // Inlined, so that the sums stay in registers.
  const auto write = [&](size_t k) __attribute__((always_inline)) {
    if (task.mode != Mode::Truth) {
      const bool narrow = sums_in_float(task.mode, task.node.dtype);
      out.t[k] = stored_value(task.mode, task.node.dtype, narrow ? static_cast<double>(f) : t);
      return;
    }
    TrackedValue y =
        scan_result({t, size, a, squares}, static_cast<double>(count), passed, task.rounding);
    *task.beyond |= limit_sum(task.range, sum_ends(size, net), y);
    out.t[k] = y.t;
    if (out.tracks.a) out.a[k] = y.a;
    if (out.tracks.h) out.h[k] = y.h;
    out.set_jump(k, lo, hi);
  };
  walk(task, in.size(), write, [&](size_t k) {
    f += static_cast<float>(in.t[k]);
    t += in.t[k];
    size += finite_magnitude(in.t[k]);
    net += std::fabs(in.t[k]) <= kLargest ? in.t[k] : 0;
    passed += std::fabs(t);
    if (in.tracks.a) a += in.a[k];
    if (in.tracks.h) squares += in.h[k] * in.h[k];
    if (in.jumps) {
      lo += in.lo[k];
      hi += in.hi[k];
    }
    ++count;
  });
}

void scan_product(const RowTask& task, const Row& in, Row& out) {
  const Rounding& r = task.rounding;
  double t = 1, a = 0, h = 0, size = 1, small = 1, jump = 0;
  float f = 1;
  int64_t count = 0;
  const auto write = [&](size_t k) {
    if (task.mode != Mode::Truth) {
      const bool narrow = sums_in_float(task.mode, task.node.dtype);
      out.t[k] = stored_value(task.mode, task.node.dtype, narrow ? static_cast<double>(f) : t);
      return;
    }
    const double m = std::isfinite(t) ? std::fabs(t) : 0;
    TrackedValue y = {t, a, h};
    if (count > 1) {
      y.a += static_cast<double>(count) * (r.unit * m + (m > 0 ? r.tiny : 0));
      y.h += r.half_unit * m + (m > 0 ? r.half_tiny : 0);
      if (small < 0x1p-126 && task.node.dtype != DType::Fp64) y.a += m;
    }
    *task.beyond |= limit_product(task.range, size, small, y);
    out.t[k] = y.t;
    if (out.tracks.a) out.a[k] = y.a;
    if (out.tracks.h) out.h[k] = y.h;
    const double moved = jump < kInfinity ? jump * m : jump;  // a zero that may not be zero
    out.set_jump(k, moved, moved);
  };
  walk(task, in.size(), write, [&](size_t k) {
    const double x = in.t[k], m = std::fabs(x), y = std::fabs(t);
    const double ax = in.tracks.a ? in.a[k] : 0, hx = in.tracks.h ? in.h[k] : 0;
    f *= static_cast<float>(x);
    a = y * ax + m * a + 4 * a * ax;
    h = y * hx + m * h + h * hx;
    t *= x;
    if (m > 1) size *= m;
    if (m < 1 && m > 0) small *= m;
    if (in.jumps && std::max(in.lo[k], in.hi[k]) > 0)
      jump = (1 + jump) * (1 + std::max(in.lo[k], in.hi[k]) / m) - 1;
    ++count;
  });
}

// Input errors are weighted by their share of the sum. Rounding errors are weighted by the share of
// the earlier partial result, for serial and tree orders.
void scan_log_sum(const RowTask& task, const Row& in, Row& out) {
  const Rounding& r = task.rounding;
  // Relative to `top`: sums of exp, and of exp times errors and sizes.
  double top = -kInfinity, sum = 0, a = 0, h = 0, size = 0, serial = 0, t = -kInfinity;
  double lo = 0, hi = 0;
  int64_t count = 0;
  const auto write = [&](size_t k) {
    if (task.mode != Mode::Truth) {
      out.t[k] = stored_value(task.mode, task.node.dtype, t);
      return;
    }
    const bool whole = std::isfinite(t);
    const double m = whole ? std::fabs(t) : 0, n = static_cast<double>(count);
    double own = whole ? a / sum : 0, half = whole ? h / sum : 0;
    if (count > 1 && whole) {
      const double tree = (std::log2(n) + 2) * (size / sum + m + kLogUnits);
      own += r.unit * std::max(tree, serial / kPathFactor);
      half += r.half_unit * m + (m > 0 ? r.half_tiny : 0);
    }
    TrackedValue y = {t, own, half};
    *task.beyond |= limit_value(task.range, y);
    out.t[k] = y.t;
    if (out.tracks.a) out.a[k] = y.a;
    if (out.tracks.h) out.h[k] = y.h;
    out.set_jump(k, lo, hi);
  };
  walk(task, in.size(), write, [&](size_t k) {
    const double x = in.t[k], before = t;
    if (x > top) {
      const double shrink = top > -kInfinity && x < kInfinity ? std::exp(top - x) : 0;
      for (double* part : {&sum, &a, &h, &size}) *part *= shrink;
      top = x;
    }
    const double share = std::isfinite(top) && x > -kInfinity ? std::exp(x - top) : 0;
    sum += share;
    a += in.tracks.a ? share * in.a[k] : 0;
    h += in.tracks.h ? share * in.h[k] : 0;
    if (std::isfinite(x)) size += share * std::fabs(x);
    t = x != x || t != t ? std::numeric_limits<double>::quiet_NaN()
                         : (std::isfinite(top) ? top + std::log(sum) : top);
    const double past = std::isfinite(before) && std::isfinite(t) ? std::exp(before - t) : 0;
    serial = serial * past + (std::isfinite(t) ? std::fabs(t) : 0) + kLogUnits;
    if (in.jumps) {
      lo = std::max(lo, in.lo[k]);
      hi = std::max(hi, in.hi[k]);
    }
    ++count;
  });
}

// The largest value so far (for CumMin of the negated values), and the ends of its errors and
// jumps.
void scan_choice(const RowTask& task, const Row& in, Row& out) {
  const double sign = task.node.op == Op::CumMin ? -1 : 1;
  double most = -kInfinity, up_a = most, down_a = most, up_h = most, down_h = most, up = most,
         down = most;
  // The last of equal values wins, as in PyTorch: it decides the sign of a zero. NaN stays.
  const auto raise = [](double& best, double v) {
    if (v >= best || v != v) best = v;
  };
  walk(
      task, in.size(),
      [&](size_t k) {
        out.t[k] = sign * most;
        if (out.tracks.a) out.a[k] = spread_of(most, up_a, down_a);
        if (out.tracks.h) out.h[k] = spread_of(most, up_h, down_h);
        const double open = in.jumps && up == kInfinity ? kInfinity : 0;
        const double rise = in.jumps && std::isfinite(most) ? up - most : open;
        const double fall = in.jumps && std::isfinite(most) ? most - down : open;
        out.set_jump(k, sign > 0 ? fall : rise, sign > 0 ? rise : fall);
      },
      [&](size_t k) {
        const double v = sign * in.t[k];
        if (most == most) raise(most, v);
        if (in.tracks.a) {
          raise(up_a, upper_end(v, in.a[k]));
          raise(down_a, v - in.a[k]);
        }
        if (in.tracks.h) {
          const double both = in.h[k] + (in.tracks.a ? kPathFactor * in.a[k] : 0);
          raise(up_h, upper_end(v, both));
          raise(down_h, v - both);
        }
        if (in.jumps) {
          const double a = in.tracks.a ? kPathFactor * in.a[k] : 0, h = in.tracks.h ? in.h[k] : 0;
          raise(up, upper_end(v, rise_of(v, {in.lo[k], in.hi[k]}, sign) + a + h));
          raise(down, v - (sign > 0 ? in.lo[k] : in.hi[k]) - a - h);
        }
      });
}

}  // namespace

void scan_row(const RowTask& task, const Row& in, Row& out) {
  if (in.tracks.integer) return scan_integers(task, in, out);
  switch (task.node.op) {
    case Op::CumSum:
      return scan_sum(task, in, out);
    case Op::CumProd:
      return scan_product(task, in, out);
    case Op::CumLogSumExp:
      return scan_log_sum(task, in, out);
    default:
      return scan_choice(task, in, out);
  }
}

}  // namespace kw::truth
