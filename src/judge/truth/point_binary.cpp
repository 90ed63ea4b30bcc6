// The problem: errors must pass through + - * /, max and min for every element of a truth. These
// loops compute value and errors together and use selections instead of branches, so that they
// vectorise. Each level of x86-64 has its own copy. Quotients use a first-order error while the
// divisor's error is small; otherwise all four ends are evaluated. The alternative, always
// evaluating the ends, would cost four divisions per element. The cost is two versions of the
// quotient rule.
#include "truth/levels.h"
#include "truth/rules.h"

namespace kw::truth::KW_SIMD_LEVEL {

namespace {

void sums(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, double sign,
          int count, VectorLanes& out) {
  for (int k = 0; k < count; ++k) out.t[k] = x.lanes->t[k] + sign * z.lanes->t[k];
  const bool cancels = spec.same && sign < 0;
  const auto add = [&](const double* ex, const double* ez, double* e) {
    for (int k = 0; k < count; ++k) e[k] = sum_error(cancels, ex[k], ez[k]);
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), out.a);
  if (spec.tracks.h) add(h_of(x), h_of(z), out.h);
  if (!spec.tracks.a || spec.joins_x + spec.joins_z == 0) return;
  for (int k = 0; k < count; ++k)
    out.a[k] +=
        joined_error(x.lanes->t[k], z.lanes->t[k], spec.joins_x, spec.joins_z, spec.rounding.unit);
}

void products(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
              VectorLanes& out) {
  const double* tx = x.lanes->t;
  const double* tz = z.lanes->t;
  for (int k = 0; k < count; ++k) out.t[k] = tx[k] * tz[k];
  const auto add = [&](const double* ex, const double* ez, double second, double* e) {
    for (int k = 0; k < count; ++k) e[k] = product_error(tx[k], tz[k], ex[k], ez[k], second);
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), 4, out.a);
  if (spec.tracks.h) add(h_of(x), h_of(z), 1, out.h);
}

void quotients(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
               VectorLanes& out) {
  const double* tx = x.lanes->t;
  const double* tz = z.lanes->t;
  for (int k = 0; k < count; ++k) out.t[k] = tx[k] / tz[k];
  const auto add = [&](const double* ex, const double* ez, double factor, double* e) {
    if (spec.same) {
      for (int k = 0; k < count; ++k) e[k] = ratio_error(tz[k], ex[k], factor);
      return;
    }
    int rough = 0;
    for (int k = 0; k < count; ++k) {
      e[k] = quotient_error(tz[k], out.t[k], ex[k], ez[k]);
      rough |= is_rough_divisor(tz[k], ez[k]);
    }
    if (rough == 0) return;
    for (int k = 0; k < count; ++k) {
      if (is_rough_divisor(tz[k], ez[k]))
        e[k] = worst_quotient(tx[k], factor * ex[k], tz[k], factor * ez[k], out.t[k]) / factor;
    }
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), kPathFactor, out.a);
  if (spec.tracks.h) add(h_of(x), h_of(z), 1, out.h);
}

// Of the negated values for Minimum and Fmin.
void choices(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, double sign,
             bool nan_wins, int count, VectorLanes& out) {
  const double* tx = x.lanes->t;
  const double* tz = z.lanes->t;
  for (int k = 0; k < count; ++k) out.t[k] = ops::picked(tx[k], tz[k], sign, nan_wins);
  const auto add = [&](const double* ex, const double* ez, double* e) {
    for (int k = 0; k < count; ++k)
      e[k] = choice_error(ops::seen(tx[k], sign, nan_wins), ops::seen(tz[k], sign, nan_wins),
                          sign * out.t[k], ex[k], ez[k]);
  };
  if (spec.tracks.a) add(a_of(x), a_of(z), out.a);
  if (!spec.tracks.h) return;
  if (!spec.tracks.a) return add(h_of(x), h_of(z), out.h);
  // The sum of both errors may make a value the larger one when neither does alone.
  double both_x[kChunk], both_z[kChunk];
  const auto sum = [count](const double* a, const double* h, double* both) {
    for (int k = 0; k < count; ++k) both[k] = reach(a[k], h[k]);
  };
  sum(a_of(x), h_of(x), both_x);
  sum(a_of(z), h_of(z), both_z);
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
