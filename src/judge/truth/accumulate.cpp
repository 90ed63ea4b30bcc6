// The problem: a reduction needs not only its value but also sums of magnitudes, errors and jumps.
// All of these are kept in one state, so that the input is read only once. Sums and choices of
// floats use vector loops on whole runs or rows; products and integers go element by element.
// Separate states can be merged, so that long reductions can be split over threads. The
// alternative, one pass per quantity, would compute the input several times. The cost is a large
// state per result; the mode Truth needs most of it.
#include "truth/accumulate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "truth/jump_rules.h"
#include "truth/levels.h"
#include "truth/reduce.h"
#include "truth/scalar.h"
#include "truth/sum_rules.h"

namespace kw::truth {

namespace {

bool chooses(const Folding& f) { return f.op == Op::Max || f.op == Op::Min; }
double sign_of(const Folding& f) { return f.op == Op::Min ? -1 : 1; }
bool in_float(const Folding& f) { return !f.in.integer && sums_in_float(f.mode, f.dtype); }

int64_t worst_integer(const Folding& f) {
  if (f.dtype == DType::Uint64) return f.op == Op::Max ? 0 : -1;
  return f.op == Op::Max ? std::numeric_limits<int64_t>::min()
                         : std::numeric_limits<int64_t>::max();
}

Op pairwise(Op op) {
  switch (op) {
    case Op::Sum:
      return Op::Add;
    case Op::Prod:
      return Op::Mul;
    case Op::Max:
      return Op::Maximum;
    default:
      return Op::Minimum;
  }
}

void raise(double& most, double value) { most = value > most ? value : most; }

double finite_sum(const double* x, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += std::fabs(x[k]) <= kLargest ? x[k] : 0;
  return sum;
}

/// Adds the terms to one chain. Each order begins at another term.
float serial_sum(float sum, const double* x, int count, int serial) {
  const int first = first_term(count, serial);
  for (int k = first; k < count; ++k) sum += static_cast<float>(x[k]);
  for (int k = 0; k < first; ++k) sum += static_cast<float>(x[k]);
  return sum;
}

void sum_run(const Folding& f, const VectorLanes& x, int first, int count, size_t s,
             Accumulators& state) {
  const ChunkLoops& loops = chunk_loops();
  if (in_float(f)) {
    state.f[s] = f.serial > 0 ? serial_sum(state.f[s], x.t + first, count, f.serial)
                              : state.f[s] + loops.sum_float(x.t + first, count);
    return;
  }
  state.t[s] += loops.sum(x.t + first, count);
  if (f.mode != Mode::Truth) return;
  state.size[s] += loops.sum_magnitudes(x.t + first, count);
  if (f.nets) state.net[s] += finite_sum(x.t + first, count);
  if (f.in.a) state.a[s] += loops.sum(x.a + first, count);
  if (f.in.h) state.h[s] += loops.sum_squares(x.h + first, count);
}

void choose_run(const Folding& f, const VectorLanes& x, int first, int count, size_t s,
                Accumulators& state) {
  const ChunkLoops& loops = chunk_loops();
  const double sign = sign_of(f);
  const double* t = x.t + first;
  const bool special = loops.has_special(t, count);
  const auto is_nan = [](double v) { return v != v; };
  if (special && std::any_of(t, t + count, is_nan)) state.t[s] = not_a_number();
  const auto upper = [&](const double* e) {
    return special ? loops.largest_upper_end(t, sign, e, count)
                   : loops.largest_end(t, sign, e, 1, count);
  };
  const double most = loops.largest(t, sign, count);
  raise(state.t[s], most);
  if (!x.jumps) raise(state.certain[s], most);
  if (f.in.a) {
    raise(state.a[s], upper(x.a + first));
    raise(state.down_a[s], loops.largest_end(t, sign, x.a + first, -1, count));
  }
  if (f.in.h) {
    // The sum of both errors may make an element the largest when neither does alone.
    double both[kChunk];
    for (int k = 0; k < count; ++k)
      both[k] = x.h[first + k] + (f.in.a ? kPathFactor * x.a[first + k] : 0);
    raise(state.h[s], upper(both));
    raise(state.down_h[s], loops.largest_end(t, sign, both, -1, count));
  }
}

struct Factor {
  double t, a, h, size, small;
};

void multiply(const Factor& x, size_t s, Accumulators& state) {
  const double y = std::fabs(state.t[s]), m = std::fabs(x.t);
  state.a[s] = y * x.a + m * state.a[s] + 4 * x.a * state.a[s];
  state.h[s] = y * x.h + m * state.h[s] + x.h * state.h[s];
  state.t[s] *= x.t;
  state.size[s] *= x.size;
  state.small[s] *= x.small;
}

void multiply_one(const Folding& f, const VectorLanes& x, int at, size_t s, Accumulators& state) {
  const double t = x.t[at], m = std::fabs(t);
  if (in_float(f)) {
    state.f[s] *= static_cast<float>(t);
    return;
  }
  multiply({t, f.in.a ? x.a[at] : 0, f.in.h ? x.h[at] : 0, m > 1 ? m : 1, m < 1 && m > 0 ? m : 1},
           s, state);
}

void jump_one(const Folding& f, const VectorLanes& x, int at, size_t s, Accumulators& state) {
  const double lo = x.lo[at], hi = x.hi[at];
  const double t = f.in.integer ? to_double(x.i[at], f.dtype) : x.t[at];
  if (f.op == Op::Sum) {
    state.lo[s] += lo;
    state.hi[s] += hi;
  } else if (f.op == Op::Prod) {
    // Relative, like the other errors of products.
    const double share = std::max(lo, hi) * (f.in.integer ? kInfinity : 1 / std::fabs(t));
    if (share > 0) state.lo[s] = state.hi[s] = (1 + state.hi[s]) * (1 + share) - 1;
  } else if (lo > 0 || hi > 0) {
    const double sign = sign_of(f);
    const double e = reach(f.in.a ? x.a[at] : 0, f.in.h ? x.h[at] : 0);
    raise(state.hi[s], upper_end(sign * t, rise_of(t, {lo, hi}, sign) + e));
    raise(state.lo[s], sign * t - (sign > 0 ? lo : hi) - e);
  } else {
    raise(state.certain[s], sign_of(f) * t);
  }
}

void fold_one(const Folding& f, const VectorLanes& x, int at, size_t s, Accumulators& state) {
  if (f.in.integer) {
    state.i[s] = apply(pairwise(f.op), state.i[s], x.i[at], f.dtype);
    if (!x.jumps && chooses(f)) raise(state.certain[s], sign_of(f) * to_double(x.i[at], f.dtype));
  } else if (f.op == Op::Prod) {
    multiply_one(f, x, at, s, state);
  } else {
    choose_run(f, x, at, 1, s, state);
  }
}

void sum_rows(const Folding& f, const VectorLanes& x, int rows, Accumulators& state) {
  const ChunkLoops& loops = chunk_loops();
  const int w = state.width;
  const int begin = f.serial > 0 ? first_term(rows, f.serial) : 0;
  for (int r = 0; r < rows; ++r) {
    const int at = (r + begin) % rows * w;
    if (in_float(f)) {
      loops.add_columns_float(x.t + at, w, state.f.data());
      continue;
    }
    loops.add_columns(x.t + at, w, state.t.data());
    if (f.mode != Mode::Truth) continue;
    loops.add_column_magnitudes(x.t + at, w, state.size.data());
    for (int k = 0; f.nets && k < w; ++k)
      state.net[static_cast<size_t>(k)] += finite_sum(x.t + at + k, 1);
    if (f.in.a) loops.add_columns(x.a + at, w, state.a.data());
    if (f.in.h) loops.add_column_squares(x.h + at, w, state.h.data());
  }
}

void choose_rows(const Folding& f, const VectorLanes& x, int rows, Accumulators& state) {
  const double sign = sign_of(f);
  const int w = state.width;
  const auto raise_all = [w](const double* ends, std::vector<double>& most) {
    for (int k = 0; k < w; ++k) raise(most[static_cast<size_t>(k)], ends[k]);
  };
  double t[kChunk], e[kChunk], ends[kChunk];
  const bool special = (f.in.a || f.in.h) && chunk_loops().has_special(x.t, rows * w);
  const auto raise_ends = [&](std::vector<double>& up, std::vector<double>& down) {
    for (int k = 0; k < w; ++k) ends[k] = t[k] + e[k];
    for (int k = 0; special && k < w; ++k) ends[k] = upper_end(t[k], e[k]);
    raise_all(ends, up);
    for (int k = 0; k < w; ++k) ends[k] = t[k] - e[k];
    raise_all(ends, down);
  };
  for (int r = 0; r < rows; ++r) {
    const int at = r * w;
    for (int k = 0; k < w; ++k) t[k] = sign * x.t[at + k];
    for (int k = 0; k < w; ++k) {
      double& most = state.t[static_cast<size_t>(k)];
      most = t[k] > most || t[k] != t[k] ? t[k] : most;  // keeps a NaN
    }
    if (!x.jumps) raise_all(t, state.certain);
    if (f.in.a) {
      std::copy_n(x.a + at, w, e);
      raise_ends(state.a, state.down_a);
    }
    if (f.in.h) {
      for (int k = 0; k < w; ++k) e[k] = x.h[at + k] + (f.in.a ? kPathFactor * x.a[at + k] : 0);
      raise_ends(state.h, state.down_h);
    }
  }
}

}  // namespace

Accumulators::Accumulators(int w) : width(w) {
  const auto n = static_cast<size_t>(w);
  i.resize(n);
  f.resize(n);
  for (auto* v : {&t, &a, &h, &size, &small, &down_a, &down_h, &lo, &hi, &certain, &net})
    v->resize(n);
}

void start(const Folding& f, Accumulators& state) {
  const auto fill = [](auto& values, auto value) {
    std::fill(values.begin(), values.end(), value);
  };
  const bool product = f.op == Op::Prod, choice = chooses(f);
  const double first = choice ? -kInfinity : 0;
  fill(state.t, product ? 1.0 : first);
  fill(state.f, product ? 1.0f : 0.0f);
  fill(state.i, choice ? worst_integer(f) : static_cast<int64_t>(product ? 1 : 0));
  for (auto* v :
       {&state.a, &state.h, &state.down_a, &state.down_h, &state.lo, &state.hi, &state.certain})
    fill(*v, first);
  fill(state.size, product ? 1.0 : 0.0);
  fill(state.net, 0.0);
  fill(state.small, 1.0);
  state.count = 0;
  state.jumps = false;
}

void fold_run(const Folding& f, const VectorLanes& x, int first, int count, int slot,
              Accumulators& state) {
  const auto s = static_cast<size_t>(slot);
  if (f.op == Op::Sum && !f.in.integer) {
    sum_run(f, x, first, count, s, state);
  } else if (chooses(f) && !f.in.integer) {
    choose_run(f, x, first, count, s, state);
  } else {
    for (int k = 0; k < count; ++k) fold_one(f, x, first + k, s, state);
  }
  if (!x.jumps) return;
  state.jumps = true;
  for (int k = 0; k < count; ++k) jump_one(f, x, first + k, s, state);
}

void fold_rows(const Folding& f, const VectorLanes& x, int rows, Accumulators& state) {
  const int w = state.width;
  if (f.op == Op::Sum && !f.in.integer) {
    sum_rows(f, x, rows, state);
  } else if (chooses(f) && !f.in.integer) {
    choose_rows(f, x, rows, state);
  } else {
    for (int k = 0; k < rows * w; ++k) fold_one(f, x, k, static_cast<size_t>(k % w), state);
  }
  state.count += rows;
  if (!x.jumps) return;
  state.jumps = true;
  for (int k = 0; k < rows * w; ++k) jump_one(f, x, k, static_cast<size_t>(k % w), state);
}

void merge(const Folding& f, const Accumulators& later, Accumulators& state) {
  for (size_t s = 0; s < state.t.size(); ++s) {
    if (f.in.integer) {
      state.i[s] = apply(pairwise(f.op), state.i[s], later.i[s], f.dtype);
    } else if (f.op == Op::Sum) {
      state.t[s] += later.t[s];
      state.f[s] += later.f[s];
      state.a[s] += later.a[s];
      state.h[s] += later.h[s];
      state.size[s] += later.size[s];
      state.net[s] += later.net[s];
    } else if (f.op == Op::Prod) {
      state.f[s] *= later.f[s];
      multiply({later.t[s], later.a[s], later.h[s], later.size[s], later.small[s]}, s, state);
    } else {
      const bool nan = later.t[s] != later.t[s];
      if (nan) state.t[s] = later.t[s];
      raise(state.t[s], later.t[s]);
      raise(state.a[s], later.a[s]);
      raise(state.h[s], later.h[s]);
      raise(state.down_a[s], later.down_a[s]);
      raise(state.down_h[s], later.down_h[s]);
    }
    if (f.op == Op::Sum) {
      state.lo[s] += later.lo[s];
      state.hi[s] += later.hi[s];
    } else if (f.op == Op::Prod) {
      state.lo[s] = state.hi[s] = (1 + state.hi[s]) * (1 + later.hi[s]) - 1;
    } else {
      raise(state.lo[s], later.lo[s]);
      raise(state.hi[s], later.hi[s]);
      raise(state.certain[s], later.certain[s]);
    }
  }
  state.jumps |= later.jumps;
  state.count += later.count;
}

}  // namespace kw::truth
