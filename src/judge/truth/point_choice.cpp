// Comparisons, integer ops, and the selection between two values.
#include <cmath>

#include "ops/op_groups.h"
#include "truth/point_rare.h"
#include "truth/scalar.h"

namespace kw::truth {

void compare_floats(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                    VectorLanes& out) {
  for (int k = 0; k < count; ++k) out.i[k] = compare(spec.op, x.lanes->t[k], z.lanes->t[k]) ? 1 : 0;
  const bool certain = !x.tracks.a && !x.tracks.h && !z.tracks.a && !z.tracks.h;
  if (certain) return;
  for (int k = 0; k < count; ++k) {
    if (may_flip(x.lanes->t[k], z.lanes->t[k], reach_of(x, k) + reach_of(z, k), spec.same))
      add_jump(flipped(out.i[k] != 0, true), k, count, out);
  }
}

void compare_integers(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z,
                      int count, VectorLanes& out) {
  for (int k = 0; k < count; ++k)
    out.i[k] = compare(spec.op, x.lanes->i[k], z.lanes->i[k], spec.from) ? 1 : 0;
}

void classify(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out) {
  for (int k = 0; k < count; ++k) {
    const double v = x.lanes->t[k];
    const bool yes =
        spec.op == Op::IsNan ? std::isnan(v) : (spec.op == Op::IsInf ? std::isinf(v) : v == 0);
    out.i[k] = yes ? 1 : 0;
    const double e = reach_of(x, k);
    const bool open = spec.op == Op::Not ? may_be_zero(v, e) : e == kInfinity;
    add_jump(flipped(yes, open), k, count, out);
  }
}

void integer_point(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                   VectorLanes& out) {
  if (in.size() == 1) {
    for (int k = 0; k < count; ++k) out.i[k] = apply(spec.op, in[0].lanes->i[k], spec.to);
    return;
  }
  const bool divides = ops::is_division(spec.op);
  for (int k = 0; k < count; ++k) {
    const int64_t z = in[1].lanes->i[k];
    if (divides && z == 0) spec.findings->divides_by_zero = true;
    out.i[k] = apply(spec.op, in[0].lanes->i[k], z, spec.to);
  }
}

void choose(const PointSpec& spec, std::span<const ChunkOperand> in, int count, VectorLanes& out) {
  const ChunkOperand &c = in[0], &x = in[1], &z = in[2];
  for (int k = 0; k < count; ++k) {
    const bool first = c.lanes->i[k] != 0;
    if (spec.tracks.integer) {
      out.i[k] = (first ? x : z).lanes->i[k];
    } else {
      out.t[k] = (first ? x : z).lanes->t[k];
    }
  }
  const auto pick = [&](const double* ex, const double* ez, double* e) {
    for (int k = 0; k < count; ++k) e[k] = c.lanes->i[k] != 0 ? ex[k] : ez[k];
  };
  if (spec.tracks.a) pick(a_of(x), a_of(z), out.a);
  if (spec.tracks.h) pick(h_of(x), h_of(z), out.h);
}

}  // namespace kw::truth
