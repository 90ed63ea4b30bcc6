#include "truth/pointwise.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "ops/op_groups.h"
#include "ports/bound.h"
#include "truth/levels.h"
#include "truth/point_rare.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

alignas(64) constexpr double kZeros[kChunk] = {};

void copy(const double* from, int count, double* to) { std::copy_n(from, count, to); }

void copy_errors(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out) {
  if (spec.tracks.a) copy(a_of(x), count, out.a);
  if (spec.tracks.h) copy(h_of(x), count, out.h);
}

void cast_to_float(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out) {
  if (!x.tracks.integer) {
    copy(x.lanes->t, count, out.t);
    return copy_errors(spec, x, count, out);
  }
  for (int k = 0; k < count; ++k) out.t[k] = to_double(x.lanes->i[k], spec.from);
  // Integers that the format can hold are exact: masks and positions must have no error.
  const auto missed = [&](DType type, double unit, double* e) {
    for (int k = 0; k < count; ++k)
      e[k] = rounded(type, out.t[k]) == out.t[k] ? 0 : unit * std::fabs(out.t[k]);
  };
  if (spec.tracks.a) missed(DType::Fp32, spec.rounding.unit, out.a);
  if (spec.tracks.h) missed(spec.to, ports::unit_roundoff(spec.to), out.h);
}

void float_result(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                  VectorLanes& out) {
  switch (spec.op) {
    case Op::Cast:
      if (spec.snaps && spec.mode == Mode::Truth) return snap(spec, in[0], count, out);
      return cast_to_float(spec, in[0], count, out);
    case Op::Where:
      return choose(spec, in, count, out);
    case Op::Neg:
    case Op::Abs:
      for (int k = 0; k < count; ++k) out.t[k] = apply(spec.op, in[0].lanes->t[k]);
      return copy_errors(spec, in[0], count, out);
    default:
      break;
  }
  // The argument's error becomes a jump of the result, or has no effect.
  if (ops::is_step(spec.op) || spec.op == Op::FloorDiv) return step(spec, in, count, out);
  if (in.size() == 1) return chunk_loops().unary(spec, in[0], count, out);
  if (!chunk_loops().binary(spec, in[0], in[1], count, out))
    rare_binary(spec, in[0], in[1], count, out);
}

void integer_result(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                    VectorLanes& out) {
  const bool floats = !in[0].tracks.integer;
  if (ops::is_comparison(spec.op))
    return floats ? compare_floats(spec, in[0], in[1], count, out)
                  : compare_integers(spec, in[0], in[1], count, out);
  if (spec.op == Op::Where) return choose(spec, in, count, out);
  if (spec.op == Op::Cast) {
    if (floats) return step(spec, in, count, out);
    // int64 and uint64 are stored with the same bits, so wrapping is enough.
    for (int k = 0; k < count; ++k) out.i[k] = wrapped(spec.to, in[0].lanes->i[k]);
    return;
  }
  if (floats) return classify(spec, in[0], count, out);
  integer_point(spec, in, count, out);
}

bool any_jumps(std::span<const ChunkOperand> in) {
  return std::any_of(in.begin(), in.end(), [](const ChunkOperand& x) { return x.lanes->jumps; });
}

void round_result(const PointSpec& spec, int count, VectorLanes& out) {
  if (spec.mode == Mode::Declared && spec.to == DType::Fp32) {
    for (int k = 0; k < count; ++k) out.t[k] = static_cast<double>(static_cast<float>(out.t[k]));
    return;
  }
  for (int k = 0; k < count; ++k) out.t[k] = stored_value(spec.mode, spec.to, out.t[k]);
}

}  // namespace

const double* a_of(const ChunkOperand& x) { return x.tracks.a ? x.lanes->a : kZeros; }
const double* h_of(const ChunkOperand& x) { return x.tracks.h ? x.lanes->h : kZeros; }

void run_point(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
               VectorLanes& out) {
  out.jumps = false;
  if (spec.tracks.integer) {
    integer_result(spec, in, count, out);
  } else {
    float_result(spec, in, count, out);
    if (spec.mode != Mode::Truth) return round_result(spec, count, out);
    if (spec.tracks.a || spec.tracks.h) {
      const bool beyond = chunk_loops().add_rounding(spec, count, out);
      if (beyond || joins_far(spec, in, count)) limit_range(spec, in, count, out);
      doubt_zeros(spec, in, count, out);
    }
  }
  if (any_jumps(in)) carry_jumps(spec, in, count, out);
}

Tracks point_tracks(Op op, DType from, DType to, std::span<const Tracks> in) {
  Tracks out;
  out.integer = is_integer(to);
  if (out.integer || ops::is_step(op)) return out;
  for (const Tracks& x : in) {
    out.a |= x.a;
    out.h |= x.h;
  }
  const bool rounds = !graph::op_info(op).exact && op != Op::Cast;
  const bool narrows = op == Op::Cast && from != to && from != DType::Bool;
  const bool wide = from == DType::Fp64 || (is_integer(from) && tensor::dtype_size(from) >= 4);
  out.a |= rounds || (narrows && wide && to != DType::Fp64);
  out.h |= is_half(to) && (rounds || narrows);
  return out;
}

}  // namespace kw::truth
