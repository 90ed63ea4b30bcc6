// Comparisons, integers, the choice between two values, and near discontinuities on their way
// through other ops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/bound.h"
#include "oracle/point_rare.h"
#include "oracle/scalar.h"

namespace kw::oracle {

using graph::Op;
using tensor::DType;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void flip_possible(int k, int count, Lanes& out) {
  open_jumps(count, out);
  (out.i[k] != 0 ? out.lo : out.hi)[k] = 1;
}

double value_of(const Operand& x, DType type, int k) {
  return x.tracks.integer ? to_double(x.lanes->i[k], type) : x.lanes->t[k];
}

double low_jump(const Operand& x, int k) { return x.lanes->jumps ? x.lanes->lo[k] : 0; }
double high_jump(const Operand& x, int k) { return x.lanes->jumps ? x.lanes->hi[k] : 0; }
bool jumps_at(const Operand& x, int k) { return low_jump(x, k) > 0 || high_jump(x, k) > 0; }

}  // namespace

void compare_floats(const PointSpec& spec, const Operand& x, const Operand& z, int count,
                    Lanes& out) {
  for (int k = 0; k < count; ++k) out.i[k] = compare(spec.op, x.lanes->t[k], z.lanes->t[k]) ? 1 : 0;
  const bool certain = !x.tracks.a && !x.tracks.h && !z.tracks.a && !z.tracks.h;
  if (certain || spec.same) return;
  for (int k = 0; k < count; ++k) {
    const double reach = reach_of(x, k) + reach_of(z, k);
    if (reach > 0 && std::fabs(x.lanes->t[k] - z.lanes->t[k]) <= reach)
      flip_possible(k, count, out);
  }
}

void compare_integers(const PointSpec& spec, const Operand& x, const Operand& z, int count,
                      Lanes& out) {
  for (int k = 0; k < count; ++k)
    out.i[k] = compare(spec.op, x.lanes->i[k], z.lanes->i[k], spec.from) ? 1 : 0;
}

void classify(const PointSpec& spec, const Operand& x, int count, Lanes& out) {
  for (int k = 0; k < count; ++k) {
    const double v = x.lanes->t[k];
    const bool yes =
        spec.op == Op::IsNan ? std::isnan(v) : (spec.op == Op::IsInf ? std::isinf(v) : v == 0);
    out.i[k] = yes ? 1 : 0;
    const double reach = reach_of(x, k);
    const bool open = spec.op == Op::Not ? reach > 0 && std::fabs(v) <= reach : reach == kInfinity;
    if (open) flip_possible(k, count, out);
  }
}

void integer_point(const PointSpec& spec, std::span<const Operand> in, int count, Lanes& out) {
  if (in.size() == 1) {
    for (int k = 0; k < count; ++k) out.i[k] = apply(spec.op, in[0].lanes->i[k], spec.to);
    return;
  }
  const bool divides = spec.op == Op::Div || spec.op == Op::FloorDiv || spec.op == Op::Remainder ||
                       spec.op == Op::Fmod;
  for (int k = 0; k < count; ++k) {
    const int64_t z = in[1].lanes->i[k];
    if (divides && z == 0) spec.findings->divides_by_zero = true;
    out.i[k] = apply(spec.op, in[0].lanes->i[k], z, spec.to);
  }
}

void choose(const PointSpec& spec, std::span<const Operand> in, int count, Lanes& out) {
  const Operand &c = in[0], &x = in[1], &z = in[2];
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

namespace {

// The ends of what one operand may be, its value among them.
struct Ends {
  double at[3];
  int count;
};

Ends ends_of(const Operand& x, DType type, int k) {
  const double v = value_of(x, type, k), lo = low_jump(x, k), hi = high_jump(x, k);
  Ends ends{{v, 0, 0}, 1};
  if (lo > 0) ends.at[ends.count++] = v - lo;
  if (hi > 0) ends.at[ends.count++] = v + hi;
  return ends;
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

void widen(double other, double y, int k, Lanes& out) {
  if (other == y || std::isnan(y)) return;
  if (std::isnan(other)) {
    out.lo[k] = out.hi[k] = kInfinity;
    return;
  }
  if (other < y) out.lo[k] = std::max(out.lo[k], y - other);
  if (other > y) out.hi[k] = std::max(out.hi[k], other - y);
}

void carry_choice(std::span<const Operand> in, const PointSpec& spec, int k, Lanes& out) {
  const bool first = in[0].lanes->i[k] != 0;
  const Operand &chosen = first ? in[1] : in[2], &other = first ? in[2] : in[1];
  out.lo[k] = low_jump(chosen, k);
  out.hi[k] = high_jump(chosen, k);
  if (!jumps_at(in[0], k)) return;
  const double y = value_of(chosen, spec.to, k);
  const Ends ends = ends_of(other, spec.to, k);
  for (int e = 0; e < ends.count; ++e) widen(ends.at[e], y, k, out);
  if (spec.tracks.a) out.a[k] = std::max(a_of(chosen)[k], a_of(other)[k]);
  if (spec.tracks.h) out.h[k] = std::max(h_of(chosen)[k], h_of(other)[k]);
}

}  // namespace

void carry_jumps(const PointSpec& spec, std::span<const Operand> in, int count, Lanes& out) {
  open_jumps(count, out);
  for (int k = 0; k < count; ++k) {
    const bool here =
        std::any_of(in.begin(), in.end(), [&](const Operand& x) { return jumps_at(x, k); });
    if (!here) continue;
    if (spec.op == Op::Where) {
      carry_choice(in, spec, k, out);
      continue;
    }
    const double y = spec.tracks.integer ? to_double(out.i[k], spec.to) : out.t[k];
    const Ends xs = ends_of(in[0], spec.from, k);
    const Ends zs = in.size() > 1 ? ends_of(in[1], spec.from, k) : Ends{{0, 0, 0}, 1};
    for (int p = 0; p < xs.count; ++p) {
      for (int q = 0; q < zs.count; ++q) {
        if (p == 0 && q == 0) continue;
        if (spec.same && p != q) continue;
        widen(evaluate(spec, !in[0].tracks.integer, xs.at[p], zs.at[q], in.size()), y, k, out);
      }
    }
  }
}

}  // namespace kw::oracle
