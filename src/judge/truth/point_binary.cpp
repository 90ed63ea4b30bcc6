// The problem: errors must pass through + - * /, max and min for every element of a truth. These
// loops compute value and errors together and use selections instead of branches, so that they
// vectorise. Each level of x86-64 has its own copy. Quotients use a first-order error while the
// divisor's error is small; otherwise all four ends are evaluated. The alternative, always
// evaluating the ends, would cost four divisions per element. The cost is two versions of the
// quotient rule.
#include <cmath>
#include <limits>

#include "truth/levels.h"
#include "truth/swing.h"

namespace kw::truth::KW_SIMD_LEVEL {

using graph::Op;

namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline double magnitude(double x) {
  const double m = std::fabs(x);
  return m <= kLargest ? m : 0;
}

void sums(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, double sign,
          int count, VectorLanes& out) {
  for (int k = 0; k < count; ++k) out.t[k] = x.lanes->t[k] + sign * z.lanes->t[k];
  const bool cancels = spec.same && sign < 0;
  const auto add = [&](const double* ex, const double* ez, double* e) {
    for (int k = 0; k < count; ++k) e[k] = cancels & (ex[k] < kInfinity) ? 0 : ex[k] + ez[k];
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), out.a);
  if (spec.tracks.h) add(h_of(x), h_of(z), out.h);
}

void products(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
              VectorLanes& out) {
  const double* tx = x.lanes->t;
  const double* tz = z.lanes->t;
  for (int k = 0; k < count; ++k) out.t[k] = tx[k] * tz[k];
  const auto add = [&](const double* ex, const double* ez, double second, double* e) {
    for (int k = 0; k < count; ++k) {
      const double mx = std::fabs(tx[k]), mz = std::fabs(tz[k]);
      // Infinity times a possible zero may be NaN.
      const bool open = ((mx > kLargest) & (ez[k] > 0) & (second * ez[k] >= mz)) |
                        ((mz > kLargest) & (ex[k] > 0) & (second * ex[k] >= mx));
      const double sum = magnitude(tz[k]) * ex[k] + magnitude(tx[k]) * ez[k];
      e[k] = open ? kInfinity : sum + second * ex[k] * ez[k];
    }
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), 4, out.a);
  if (spec.tracks.h) add(h_of(x), h_of(z), 1, out.h);
}

double worst_quotient(double x, double ex, double z, double ez, double y, double overflow) {
  if (ex == 0 && ez == 0) return 0;
  if (!(ez < std::fabs(z))) {
    // A divisor that overflowed may be infinite; the quotient is then 0.
    const bool large = std::fabs(z) > overflow;
    return ez == kInfinity && large && ex < kInfinity ? std::fabs(y) : kInfinity;
  }
  const double ends[4] = {(x + ex) / (z - ez), (x + ex) / (z + ez), (x - ex) / (z - ez),
                          (x - ex) / (z + ez)};
  double most = 0;
  for (const double end : ends) {
    const double d = distance(end, y);
    most = d > most ? d : most;
  }
  return most;
}

void quotients(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
               VectorLanes& out) {
  const double* tx = x.lanes->t;
  const double* tz = z.lanes->t;
  for (int k = 0; k < count; ++k) out.t[k] = tx[k] / tz[k];
  const auto add = [&](const double* ex, const double* ez, double factor, double overflow,
                       double* e) {
    if (spec.same) {
      // The quotient is 1, unless it may be 0 / 0 or infinity / infinity.
      for (int k = 0; k < count; ++k)
        e[k] = ex[k] == 0 || factor * ex[k] < std::fabs(tz[k]) ? 0 : kInfinity;
      return;
    }
    int rough = 0;
    for (int k = 0; k < count; ++k) {
      const double m = std::fabs(tz[k]);
      e[k] = (ex[k] + magnitude(out.t[k]) * ez[k]) / m;
      rough |= !(ez[k] <= 0x1p-6 * m) | !(m > 0) | !(m <= kLargest);
    }
    if (rough == 0) return;
    for (int k = 0; k < count; ++k) {
      const double m = std::fabs(tz[k]);
      if (!(ez[k] <= 0x1p-6 * m) || !(m > 0) || !(m <= kLargest))
        e[k] = worst_quotient(tx[k], factor * ex[k], tz[k], factor * ez[k], out.t[k], overflow) /
               factor;
    }
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), kPathFactor, kPathOverflow, out.a);
  if (spec.tracks.h) add(h_of(x), h_of(z), 1, kHalfOverflow, out.h);
}

// The larger of two values (for the smaller: of the negated values). With errors, the result lies
// between the larger of both lower ends and the larger of both upper ends.
void choices(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, double sign,
             bool nan_wins, int count, VectorLanes& out) {
  const double* tx = x.lanes->t;
  const double* tz = z.lanes->t;
  const auto seen = [&](double v) { return nan_wins || v == v ? sign * v : -kInfinity; };
  const auto pick = [&](double p, double q) {
    const double nan = p == p ? q : p;
    return p > q || p != p || q != q ? (p > q ? p : nan) : q;
  };
  for (int k = 0; k < count; ++k) {
    const bool both = tx[k] != tx[k] && tz[k] != tz[k];
    out.t[k] = both ? tx[k] : sign * pick(seen(tx[k]), seen(tz[k]));
  }
  const auto add = [&](const double* ex, const double* ez, double* e) {
    for (int k = 0; k < count; ++k) {
      const double p = seen(tx[k]), q = seen(tz[k]), m = sign * out.t[k];
      const double up = p + ex[k] > q + ez[k] ? p + ex[k] : q + ez[k];
      const double down = p - ex[k] > q - ez[k] ? p - ex[k] : q - ez[k];
      const double most = up - m > m - down ? up - m : m - down;
      const double known = std::fabs(m) <= kLargest ? most : 0;
      e[k] = (ex[k] == kInfinity) | (ez[k] == kInfinity) ? kInfinity : known;
    }
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), out.a);
  if (!spec.tracks.h) return;
  if (!spec.tracks.a) return add(h_of(x), h_of(z), out.h);
  // The sum of both errors may make a value the larger one when neither does alone.
  double both_x[kChunk], both_z[kChunk];
  for (int k = 0; k < count; ++k) {
    both_x[k] = h_of(x)[k] + kPathFactor * a_of(x)[k];
    both_z[k] = h_of(z)[k] + kPathFactor * a_of(z)[k];
  }
  add(both_x, both_z, out.h);
}

}  // namespace

bool run_binary(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                VectorLanes& out) {
  switch (spec.op) {
    case Op::Add:
      sums(spec, x, z, 1, count, out);
      return true;
    case Op::Sub:
      sums(spec, x, z, -1, count, out);
      return true;
    case Op::Mul:
      products(spec, x, z, count, out);
      return true;
    case Op::Div:
      quotients(spec, x, z, count, out);
      return true;
    case Op::Maximum:
    case Op::Fmax:
      choices(spec, x, z, 1, spec.op == Op::Maximum, count, out);
      return true;
    case Op::Minimum:
    case Op::Fmin:
      choices(spec, x, z, -1, spec.op == Op::Minimum, count, out);
      return true;
    default:
      return false;
  }
}

}  // namespace kw::truth::KW_SIMD_LEVEL
