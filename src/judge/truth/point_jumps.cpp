// The problem: an operand near a discontinuity has other possible values far from its own; the
// result has them too. The op is evaluated at the ends of each operand's jump, and the result's
// jump is widened to include them. For ops that are not monotonic between the ends, a rule per op
// says what may lie between. The alternative, interval arithmetic for every element, would be slow
// and too wide. The cost is paid only at elements that jump, usually few. Without a better rule the
// jump becomes infinite.
#include <algorithm>
#include <cmath>

#include "ops/op_groups.h"
#include "truth/point_rare.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

double value_of(const ChunkOperand& x, DType type, int k) {
  return x.tracks.integer ? to_double(x.lanes->i[k], type) : x.lanes->t[k];
}

Jump jump_at(const ChunkOperand& x, int k) {
  return x.lanes->jumps ? Jump{x.lanes->lo[k], x.lanes->hi[k]} : Jump{0, 0};
}

bool has_steps(const PointSpec& spec, bool floats) {
  if (spec.op == Op::Cast) return spec.snaps || (floats && spec.tracks.integer);
  return floats && (ops::rounds_to_integer(spec.op) || spec.op == Op::FloorDiv);
}

double evaluate(const PointSpec& spec, bool floats, double x, double z, size_t operands) {
  const Op op = spec.op;
  if (op >= Op::Eq && op <= Op::Ge) return compare(op, x, z) ? 1 : 0;
  if (op == Op::Cast) {
    if (spec.to == DType::Bool) return x != 0 ? 1 : 0;
    if (spec.snaps) return snapped(spec.to, x);
    return spec.tracks.integer ? std::trunc(x) : x;
  }
  if (floats && op == Op::IsNan) return std::isnan(x) ? 1 : 0;
  if (floats && op == Op::IsInf) return std::isinf(x) ? 1 : 0;
  if (floats && op == Op::Not) return x == 0 ? 1 : 0;
  if (floats) return operands == 1 ? apply(op, x) : apply(op, x, z);
  const int64_t i = to_integer(x, DType::Int64), j = to_integer(z, DType::Int64);
  return to_double(operands == 1 ? apply(op, i, spec.to) : apply(op, i, j, spec.to), spec.to);
}

// The other branch is the other operand, with its own errors.
void join_errors(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int k,
                 VectorLanes& out) {
  if (spec.tracks.a) out.a[k] = std::max(a_of(x)[k], a_of(z)[k]);
  if (spec.tracks.h) out.h[k] = std::max(h_of(x)[k], h_of(z)[k]);
}

Jump carry_choice(const PointSpec& spec, std::span<const ChunkOperand> in, int k,
                  VectorLanes& out) {
  const bool first = in[0].lanes->i[k] != 0, open = jumps(jump_at(in[0], k));
  const ChunkOperand &chosen = first ? in[1] : in[2], &other = first ? in[2] : in[1];
  if (open) join_errors(spec, chosen, other, k, out);
  return carry_select(open, value_of(chosen, spec.to, k), jump_at(chosen, k),
                      value_of(other, spec.to, k), jump_at(other, k));
}

// The operands of one element; z is x if there is only one.
struct Operands {
  double x, z;
  Jump jx, jz;
  bool close;  // the only other values are the ends themselves
};

Operands operands_at(const PointSpec& spec, std::span<const ChunkOperand> in, int k) {
  const ChunkOperand &x = in.front(), &z = in.back();
  const Jump jx = jump_at(x, k), jz = jump_at(z, k);
  const bool integers = x.tracks.integer && z.tracks.integer;
  return {value_of(x, spec.from, k), value_of(z, spec.from, k), jx, jz,
          integers && one_apart(jx) && one_apart(jz)};
}

// Returns whether a result between the ends may exceed the integer type and wrap around.
bool wraps(const PointSpec& spec, const Operands& o, bool one) {
  const double bits = 8 * tensor::dtype_size(spec.to);
  const bool is_signed = wrapped(spec.to, -1) == -1 && spec.to != DType::Uint64;
  const double low = is_signed ? -std::exp2(bits - 1) : 0;
  const double high = std::exp2(is_signed ? bits - 1 : bits);
  for (int end = 0; end < 9; ++end) {
    const int p = end / 3, q = end % 3;
    if (!has_end(o.jx, p) || !has_end(o.jz, q)) continue;
    const double x = end_of(o.x, o.jx, p), z = end_of(o.z, o.jz, q);
    const double y = one ? apply(spec.op, x) : apply(spec.op, x, z);
    if (!(y >= low && y < high)) return true;
  }
  return false;
}

Jump carry_remainder(Op op, const Operands& o, double y, Jump out) {
  const double size = std::fabs(o.z);
  const bool both = op == Op::Fmod;
  if (jumps(o.jz) || (y != y && is_open(o.jx))) return anywhere();
  widen(out, both || o.z < 0 ? -size : 0, y);
  widen(out, both || o.z > 0 ? size : 0, y);
  return out;
}

// Returns what lies between the ends of the operands' jumps.
ops::Between between_of(const PointSpec& spec, const Operands& o, bool one) {
  const ops::Between between = graph::op_info(spec.op).between;
  const bool sums = spec.op == Op::Neg || (spec.op >= Op::Add && spec.op <= Op::Mul);
  if (o.close) return ops::Between::ByEnds;
  if (sums && spec.tracks.integer && wraps(spec, o, one)) return ops::Between::Anything;
  // Its ends are moved outwards, but not towards the pole.
  if (spec.op == Op::FloorDiv)
    return jumps(o.jz) && spans_zero(o.z, o.jz) ? ops::Between::Anything : ops::Between::ByEnds;
  return between;
}

Jump carry_one(const PointSpec& spec, std::span<const ChunkOperand> in, int k, VectorLanes& out) {
  const Op op = spec.op;
  if (op == Op::Where) return carry_choice(spec, in, k, out);
  const Jump own = {out.lo[k], out.hi[k]};
  const double y = spec.tracks.integer ? to_double(out.i[k], spec.to) : out.t[k];
  const Operands o = operands_at(spec, in, k);
  if ((op == Op::Remainder || op == Op::Fmod) && !o.close) return carry_remainder(op, o, y, own);
  if (ops::is_extremum(op)) join_errors(spec, in[0], in[1], k, out);
  const bool one = in.size() == 1, floats = !in[0].tracks.integer, steps = has_steps(spec, floats);
  const Jump jx = steps ? reached(o.jx, reach_of(in.front(), k)) : o.jx;
  const Jump jz = steps ? reached(o.jz, reach_of(in.back(), k)) : o.jz;
  const auto at = [&](double v, double w) { return evaluate(spec, floats, v, w, in.size()); };
  const auto at_one = [&](double v) { return at(v, 0); };
  const auto carry_by_op = [&] {
    if (op >= Op::Eq && op <= Op::Ge)
      return carry_comparison(op <= Op::Ne, o.close, own, y, o.x, jx, o.z, jz, spec.same, at);
    if (spec.to == DType::Bool && !o.close && (op == Op::Cast || op == Op::Not))
      return carry_to_bool(own, y, o.x, o.jx, jx, op == Op::Not ? 1 : 0, at_one);
    const ops::Between kind = between_of(spec, o, one);
    if (one) return carry(kind, own, y, o.x, jx, at_one);
    return carry(kind, own, y, o.x, jx, o.z, jz, spec.same, at);
  };
  const Jump j = carry_by_op();
  return spec.tracks.integer ? keep_steps(j, y) : j;
}

}  // namespace

void carry_jumps(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out) {
  open_jumps(count, out);
  const double scale = jump_scale(spec.rounding, spec.errors);
  for (int k = 0; k < count; ++k) {
    if (std::none_of(in.begin(), in.end(), [k](auto& x) { return jumps(jump_at(x, k)); })) continue;
    const Jump j = carry_one(spec, in, k, out);
    out.lo[k] = j.lo * scale;
    out.hi[k] = j.hi * scale;
    if (out.lo[k] == kInfinity || out.hi[k] == kInfinity) spec.findings->unbounded = true;
  }
}

}  // namespace kw::truth
