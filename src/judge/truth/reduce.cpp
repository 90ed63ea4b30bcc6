// The problem: reductions have very different shapes, and all must use every core and give the same
// bits. The input is read as [outer kept, reduced, inner kept]. Without inner dims, runs are folded
// into one result each; otherwise rows are folded into rows of results. Few results of many
// elements are split along the reduced dims. The split depends only on the shape, so the result
// does not depend on the number of threads. The alternative, one thread per result, would leave
// most cores idle for few results. The cost is extra state and a merge for split results.
#include "truth/reduce.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/contains.h"
#include "os/parallel.h"
#include "truth/accumulate.h"
#include "truth/errors.h"
#include "truth/jump_rules.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

constexpr int64_t kPiece = int64_t{1} << 17;  // target number of elements per unit of work

class Reduction {
 public:
  Reduction(const Sources& s, NodeId node, const Workers& workers, Tensor& out)
      : s_(s), node_(s.graph[node]), workers_(workers), out_(out) {
    const NodeId in = node_.inputs[0];
    layout_ = reduce_layout(node_, s.facts[static_cast<size_t>(in)].shape);
    program_ = make_program(s, in, layout_.order, false);
    folding_ = {node_.op, node_.dtype,           program_.tracks,
                s.mode,   s.overflow != nullptr, workers.serial};
    rounding_ = without_limits(rounding_of(node_.dtype, s.flush));
    range_ = s.range_of(node);
    id_ = node;
    if (layout_.reduced > 1)
      terms_before_ =
          s.facts[static_cast<size_t>(node)].terms / static_cast<double>(layout_.reduced);
    for (int w = 0; w < workers.threads; ++w) evaluators_.emplace_back(program_);
  }

  void run() {
    if (layout_.outer * layout_.inner == 0) return;
    width_ = layout_.inner <= kChunk ? layout_.inner : kChunk;
    blocks_ = (layout_.inner + width_ - 1) / width_;
    if (layout_.inner > 1) return run_rows();
    layout_.reduced < kPiece ? run_short() : run_long();
  }

 private:
  // Unsplit results: several short ones per chunk, or one of several chunks.
  void run_short() {
    const int64_t n = layout_.reduced;
    const int64_t per_unit = std::max<int64_t>(1, kPiece / std::max<int64_t>(n, 1));
    const int64_t units = (layout_.outer + per_unit - 1) / per_unit;
    os::parallel_for(workers_.threads, units, [&](int worker, int64_t unit) {
      const int64_t end = std::min(layout_.outer, (unit + 1) * per_unit);
      Accumulators state(1);
      const int64_t batch = n == 0 ? 1 : std::max<int64_t>(1, kChunk / n);
      for (int64_t o = unit * per_unit; o < end; o += batch) {
        const int64_t rows = std::min(batch, end - o);
        if (n <= kChunk) {
          const VectorLanes* lanes =
              n == 0 ? nullptr : &evaluator(worker).at(o * n, static_cast<int>(rows * n));
          for (int64_t r = 0; r < rows; ++r) {
            start(folding_, state);
            state.count = n;
            if (lanes != nullptr)
              fold_run(folding_, *lanes, static_cast<int>(r * n), static_cast<int>(n), 0, state);
            write(state, o + r, 0);
          }
        } else {
          start(folding_, state);
          fold_range(worker, o * n, n, state);
          write(state, o, 0);
        }
      }
    });
  }

  // Splits every result into pieces.
  void run_long() {
    const int64_t n = layout_.reduced, pieces = (n + kPiece - 1) / kPiece;
    std::vector<Accumulators> states(static_cast<size_t>(pieces), Accumulators(1));
    for (int64_t o = 0; o < layout_.outer; ++o) {
      os::parallel_for(workers_.threads, pieces, [&](int worker, int64_t piece) {
        Accumulators& state = states[static_cast<size_t>(piece)];
        start(folding_, state);
        const int64_t first = piece * kPiece;
        fold_range(worker, o * n + first, std::min(kPiece, n - first), state);
      });
      for (size_t p = 1; p < states.size(); ++p) merge(folding_, states[p], states[0]);
      write(states[0], o, 0);
    }
  }

  void fold_range(int worker, int64_t first, int64_t n, Accumulators& state) {
    for (int64_t k = 0; k < n; k += kChunk) {
      const int count = static_cast<int>(std::min<int64_t>(kChunk, n - k));
      fold_run(folding_, evaluator(worker).at(first + k, count), 0, count, 0, state);
    }
    state.count += n;
  }

  // Results in rows: blocks of columns, split along the reduced dims if they are few.
  void run_rows() {
    const int64_t n = layout_.reduced, cells = layout_.outer * blocks_;
    const int64_t wanted = std::max<int64_t>(1, n * width_ / kPiece);
    const int64_t splits = cells >= 16 ? 1 : std::min<int64_t>(wanted, 16);
    std::vector<std::vector<Accumulators>> states(static_cast<size_t>(cells));
    std::mutex mutex;
    os::parallel_for(workers_.threads, cells * splits, [&](int worker, int64_t unit) {
      const int64_t cell = unit / splits, split = unit % splits;
      const int64_t first = n * split / splits, last = n * (split + 1) / splits;
      Accumulators state = fold_block(worker, cell, first, last);
      if (splits == 1) return write_block(state, cell);
      const std::lock_guard lock(mutex);
      auto& parts = states[static_cast<size_t>(cell)];
      parts.resize(static_cast<size_t>(splits), Accumulators(0));
      parts[static_cast<size_t>(split)] = std::move(state);
    });
    if (splits == 1) return;
    for (int64_t cell = 0; cell < cells; ++cell) {
      auto& parts = states[static_cast<size_t>(cell)];
      for (size_t p = 1; p < parts.size(); ++p) merge(folding_, parts[p], parts[0]);
      write_block(parts[0], cell);
    }
  }

  Accumulators fold_block(int worker, int64_t cell, int64_t first, int64_t last) {
    const int64_t o = cell / blocks_, begin = cell % blocks_ * width_;
    const int64_t width = std::min(width_, layout_.inner - begin);
    Accumulators state(static_cast<int>(width));
    start(folding_, state);
    const int64_t batch = blocks_ == 1 ? std::max<int64_t>(1, kChunk / width) : 1;
    const auto steps = static_cast<int>((last - first + batch - 1) / batch);
    const int turned = workers_.serial > 0 ? first_term(steps, workers_.serial) : 0;
    for (int step = 0; step < steps; ++step) {
      const int64_t r = first + (step + turned) % steps * batch;
      const int64_t rows = std::min(batch, last - r);
      const int64_t at = (o * layout_.reduced + r) * layout_.inner + begin;
      fold_rows(folding_, evaluator(worker).at(at, static_cast<int>(rows * width)),
                static_cast<int>(rows), state);
    }
    return state;
  }

  void write_block(const Accumulators& state, int64_t cell) {
    const int64_t first = cell / blocks_ * layout_.inner + cell % blocks_ * width_;
    for (int k = 0; k < state.width; ++k) write(state, first + k, k);
  }

  void write(const Accumulators& state, int64_t at, int slot);
  void write_sum(const Accumulators& state, size_t at, size_t s);
  void write_product(const Accumulators& state, size_t at, size_t s);
  void write_choice(const Accumulators& state, size_t at, size_t s);
  void round_result(const Accumulators& state, size_t at, size_t s);
  void set_errors(size_t at, double a, double h);
  void note_range(uint8_t beyond, double size, TrackedValue& y);
  void set_jumps(const Accumulators& state, size_t at, size_t s);

  TruthRunner& evaluator(int worker) { return evaluators_[static_cast<size_t>(worker)]; }

  const Sources& s_;
  const Node& node_;
  const Workers& workers_;
  Tensor& out_;
  ReduceLayout layout_;
  TruthProgram program_;
  Folding folding_;
  Rounding rounding_;
  NodeRange range_;
  NodeId id_ = -1;
  double terms_before_ = 1;  // of each term, which may be a sum itself
  std::vector<TruthRunner> evaluators_;
  int64_t width_ = 1, blocks_ = 1;
};

void Reduction::set_errors(size_t at, double a, double h) {
  if (out_.tracks.a) out_.a[at] = stored_bound(a);
  if (out_.tracks.h) out_.h[at] = stored_bound(h);
  if (!(a < kInfinity && h < kInfinity)) s_.findings.unbounded = true;
}

void Reduction::write(const Accumulators& state, int64_t index, int slot) {
  const auto at = static_cast<size_t>(index), s = static_cast<size_t>(slot);
  if (out_.tracks.integer) {
    out_.i[at] = state.i[s];
  } else if (node_.op == Op::Sum) {
    write_sum(state, at, s);
  } else if (node_.op == Op::Prod) {
    write_product(state, at, s);
  } else {
    write_choice(state, at, s);
  }
  if (state.jumps) set_jumps(state, at, s);
}

void Reduction::round_result(const Accumulators& state, size_t at, size_t s) {
  const bool narrow = sums_in_float(s_.mode, node_.dtype);
  out_.t[at] =
      stored_value(s_.mode, node_.dtype, narrow ? static_cast<double>(state.f[s]) : state.t[s]);
}

void Reduction::write_sum(const Accumulators& state, size_t at, size_t s) {
  if (s_.mode != Mode::Truth) return round_result(state, at, s);
  TrackedValue y = sum_errors(rounding_, static_cast<double>(state.count) * terms_before_,
                              {state.t[s], state.size[s], state.a[s], state.h[s]});
  // In the first run the finite part of an infinite sum is not known.
  const double size = state.size[s], net = folding_.nets ? state.net[s] : y.t;
  const bool open = !folding_.nets && !std::isfinite(y.t);
  const uint8_t beyond =
      limit_sum(range_, open ? SumEnds{size, size, false} : sum_ends(size, net), y);
  if (beyond != 0) note_range(beyond, state.size[s], y);
  out_.t[at] = y.t;
  set_errors(at, y.a, y.h);
}

// A sum that fp64 cannot hold has no value here.
void Reduction::note_range(uint8_t beyond, double size, TrackedValue& y) {
  s_.findings.mark(id_, beyond);
  if (size <= kLargest || range_.clamp != 0) return;
  y.a = kInfinity;
}

// The result is certain only if every order of the factors stays in range.
void Reduction::write_product(const Accumulators& state, size_t at, size_t s) {
  if (s_.mode != Mode::Truth) return round_result(state, at, s);
  TrackedValue y = {state.t[s], state.a[s], state.h[s]};
  const double m = std::fabs(y.t);
  if (std::isfinite(y.t) && state.count > 1) {
    y.a += static_cast<double>(state.count) * (rounding_.unit * m + (m > 0 ? rounding_.tiny : 0));
    y.h += rounding_.half_unit * m + (m > 0 ? rounding_.half_tiny : 0);
    if (state.small[s] < 0x1p-126 && node_.dtype != DType::Fp64) y.a += m;
  }
  const uint8_t beyond = limit_product(range_, state.size[s], state.small[s], y);
  if (beyond != 0) note_range(beyond, state.size[s], y);
  out_.t[at] = y.t;
  set_errors(at, y.a, y.h);
}

void Reduction::write_choice(const Accumulators& state, size_t at, size_t s) {
  const double sign = node_.op == Op::Min ? -1 : 1, m = state.t[s];
  out_.t[at] = sign * m;
  set_errors(at, folding_.in.a ? spread_of(m, state.a[s], state.down_a[s]) : 0,
             folding_.in.h ? spread_of(m, state.h[s], state.down_h[s]) : 0);
}

void Reduction::set_jumps(const Accumulators& state, size_t at, size_t s) {
  Jump j = {state.lo[s], state.hi[s]};
  const double t = out_.tracks.integer ? to_double(out_.i[at], node_.dtype) : out_.t[at];
  if (node_.op == Op::Prod) {
    if (j.hi < kInfinity) j.lo = j.hi = j.hi * std::fabs(t);
  } else if (node_.op != Op::Sum) {
    const double sign = node_.op == Op::Min ? -1 : 1;
    j = choice_jump(sign, sign * t, j.hi, j.lo, state.certain[s]);
  }
  if (!jumps(j)) return;
  out_.make_jumps();
  out_.lo[at] = stored_bound(std::max(j.lo, 0.0));
  out_.hi[at] = stored_bound(std::max(j.hi, 0.0));
}

// Many results of few elements each (pools) are faster as rows of results, even if their elements
// are neighbours. Returns the first of the kept dims to read last; the rank if there is none.
template <class IsReduced>
int side_by_side(const Extents& shape, IsReduced is_reduced) {
  constexpr int64_t kFew = 32, kWanted = 64;
  const int rank = static_cast<int>(shape.size());
  int64_t reduced = 1, kept = 1;
  for (int d = 0; d < rank; ++d) {
    if (is_reduced(d)) reduced *= shape[static_cast<size_t>(d)];
  }
  if (reduced > kFew) return rank;
  int first = rank;
  for (int d = rank; d-- > 0 && kept < kWanted;) {
    if (is_reduced(d)) continue;
    kept *= shape[static_cast<size_t>(d)];
    first = d;
  }
  return first;
}

}  // namespace

ReduceLayout reduce_layout(const Node& node, const Extents& shape) {
  const int rank = static_cast<int>(shape.size());
  const auto is_reduced = [&](int d) { return contains(node.attrs.dims, d); };
  int inner = rank;  // kept dims from here on are read last
  for (int d = rank; d-- > 0;) {
    if (shape[static_cast<size_t>(d)] == 1) continue;
    if (is_reduced(d)) break;
    inner = d;
  }
  if (inner == rank) inner = side_by_side(shape, is_reduced);
  ReduceLayout layout;
  const auto take = [&](int from, int to, bool reduced, int64_t& count) {
    for (int d = from; d < to; ++d) {
      if (is_reduced(d) != reduced) continue;
      layout.order.push_back(d);
      count *= shape[static_cast<size_t>(d)];
    }
  };
  take(0, inner, false, layout.outer);
  take(0, rank, true, layout.reduced);
  take(inner, rank, false, layout.inner);
  return layout;
}

void reduce(const Sources& sources, NodeId node, const Workers& workers, Tensor& out) {
  Reduction(sources, node, workers, out).run();
}

}  // namespace kw::truth
