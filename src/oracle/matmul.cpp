// The truth is one product in fp64; what the bounds need (sums of magnitudes, of errors, of squared
// half errors) are products of non-negative matrices, for which fp32 is enough once every row and
// column is scaled to at most 1.
#include "oracle/matmul.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "exec/bound.h"
#include "oracle/levels.h"
#include "oracle/parallel.h"
#include "oracle/scalar.h"

namespace kw::oracle {

using graph::Node;
using graph::NodeId;
using graph::Op;
using tensor::DType;

namespace {

constexpr int64_t kRows = kGemmRows;

// Elements from which a pass over a matrix is worth sharing.
constexpr int64_t kWorthSharing = 1 << 16;

// One matrix of the batch, row-major.
struct Matrix {
  Tracks tracks;
  bool jumps = false;
  tensor::Large<double> t;
  tensor::Large<int64_t> i;
  tensor::Large<float> a, h, j;
};

void read_chunk(const Lanes& lanes, int64_t at, int count, Matrix& m) {
  if (m.tracks.integer) {
    std::copy_n(lanes.i, count, m.i.begin() + at);
  } else {
    std::copy_n(lanes.t, count, m.t.begin() + at);
  }
  const auto copy = [&](const double* from, tensor::Large<float>& to) {
    for (int k = 0; k < count; ++k) to[static_cast<size_t>(at + k)] = stored_bound(from[k]);
  };
  if (m.tracks.a) copy(lanes.a, m.a);
  if (m.tracks.h) copy(lanes.h, m.h);
  for (int k = 0; lanes.jumps && k < count; ++k)
    m.j[static_cast<size_t>(at + k)] = stored_bound(std::max(lanes.lo[k], lanes.hi[k]));
}

/// By as many workers as there are evaluators.
Matrix read_matrix(const Program& program, std::span<Evaluator> evaluators, int64_t first,
                   int64_t count) {
  constexpr int64_t kUnit = 32 * kChunk;
  Matrix m;
  m.tracks = program.tracks;
  const auto size = static_cast<size_t>(count);
  if (m.tracks.integer) {
    m.i.resize(size);
  } else {
    m.t.resize(size);
  }
  if (m.tracks.a) m.a.resize(size);
  if (m.tracks.h) m.h.resize(size);
  m.j.resize(size);
  std::atomic<bool> jumps = false;
  const int workers = count < kWorthSharing ? 1 : static_cast<int>(evaluators.size());
  parallel_for(workers, (count + kUnit - 1) / kUnit, [&](int worker, int64_t unit) {
    const int64_t end = std::min(count, (unit + 1) * kUnit);
    for (int64_t at = unit * kUnit; at < end; at += kChunk) {
      const int n = static_cast<int>(std::min<int64_t>(kChunk, end - at));
      const Lanes& lanes = evaluators[static_cast<size_t>(worker)].at(first + at, n);
      if (lanes.jumps) jumps = true;
      read_chunk(lanes, at, n, m);
    }
  });
  m.jumps = jumps;
  if (!m.jumps) m.j.clear();
  return m;
}

// How the elements of a matrix are laid out for the inner loop: panels of `width` rows (of A) or
// columns (of B), each stored depth by depth.
struct Packing {
  int64_t lines, depth, width;
  int64_t line_stride, depth_stride;
  int threads;
  int64_t panels() const { return (lines + width - 1) / width; }
  size_t size() const { return static_cast<size_t>(panels() * depth * width); }
};

template <class T>
struct Plane {
  tensor::Large<T> data;
  std::vector<double> scale;  // per line, of bounds
};

/// Calls body(line, depth, element) for everything in the panel, depth by depth.
template <class Body>
void each_of_panel(const Packing& p, int64_t panel, Body body) {
  const int64_t first = panel * p.width, last = std::min(p.lines, first + p.width);
  for (int64_t k = 0; k < p.depth; ++k)
    for (int64_t line = first; line < last; ++line)
      body(line, k, static_cast<size_t>(line * p.line_stride + k * p.depth_stride));
}

/// `value` is given a line and an element.
template <class T, class Value>
Plane<T> packed(const Packing& p, Value value) {
  Plane<T> plane;
  plane.data.resize(p.size());
  parallel_for(p.threads, p.panels(), [&](int, int64_t panel) {
    T* to = plane.data.data() + panel * p.depth * p.width;
    each_of_panel(p, panel, [&](int64_t line, int64_t k, size_t at) {
      to[k * p.width + line % p.width] = static_cast<T>(value(line, at));
    });
  });
  return plane;
}

/// Non-negative values, every line scaled to at most 1 by a power of two; infinities count as 0.
template <class Value>
Plane<float> packed_bound(const Packing& p, Value value) {
  std::vector<double> scale(static_cast<size_t>(p.panels() * p.width), 0);
  parallel_for(p.threads, p.panels(), [&](int, int64_t panel) {
    each_of_panel(p, panel, [&](int64_t line, int64_t, size_t at) {
      const double v = value(at);
      double& most = scale[static_cast<size_t>(line)];
      if (v > most && v < kInfinity) most = v;
    });
  });
  for (double& most : scale) most = most > 0 ? std::exp2(std::ceil(std::log2(most))) : 1;
  Plane<float> plane = packed<float>(p, [&](int64_t line, size_t at) {
    const double v = value(at);
    return v < kInfinity ? v / scale[static_cast<size_t>(line)] : 0;
  });
  plane.scale = std::move(scale);
  return plane;
}

// One of the sums a bound is made of: products of planes, added up.
struct Term {
  Plane<float> left, right;
};
using Terms = std::vector<Term>;

/// Everything about one matrix of the batch that the blocks need.
struct Job {
  Plane<double> left, right;
  Plane<float> left_float, right_float;  // declared precision
  Terms size, errors, squares, tf32, jumps;
  std::vector<bool> unbounded_row, unbounded_column;
};

class Product {
 public:
  Product(const Sources& s, NodeId node, const Workers& workers, Tensor& out)
      : s_(s),
        node_(s.graph[node]),
        workers_(workers),
        out_(out),
        rounding_(rounding_of(node_.dtype, s.flush)),
        left_(make_program(s, node_.inputs[0], {}, false)),
        right_(make_program(s, node_.inputs[1], {}, false)) {
    const Extents& shape = s.facts[static_cast<size_t>(node_.inputs[0])].shape;
    m_ = shape[shape.size() - 2];
    k_ = shape[shape.size() - 1];
    n_ = out.shape.back();
    tf32_ = workers.tf32 && node_.dtype == DType::Fp32;
    in_float_ = sums_in_float(s.mode, node_.dtype);
  }

  void run() {
    if (out_.count() == 0) return;
    const int64_t batches = out_.count() / (m_ * n_);
    // Many matrices: one worker each. Few: they are shared.
    const bool apart = batches >= workers_.threads;
    const int outer = apart ? workers_.threads : 1, inner = apart ? 1 : workers_.threads;
    std::vector<Evaluator> lefts, rights;
    for (int w = 0; w < workers_.threads; ++w) {
      lefts.emplace_back(left_);
      rights.emplace_back(right_);
    }
    inner_ = inner;
    parallel_for(outer, batches, [&](int worker, int64_t batch) {
      const auto mine = [&](std::vector<Evaluator>& all) {
        return apart ? std::span(all).subspan(static_cast<size_t>(worker), 1) : std::span(all);
      };
      const Matrix a = read_matrix(left_, mine(lefts), batch * m_ * k_, m_ * k_);
      const Matrix b = read_matrix(right_, mine(rights), batch * k_ * n_, k_ * n_);
      if (out_.tracks.integer) return multiply_integers(a, b, batch);
      multiply(make_job(a, b), batch, inner);
    });
  }

 private:
  void multiply_integers(const Matrix& a, const Matrix& b, int64_t batch) {
    for (int64_t i = 0; i < m_; ++i) {
      int64_t* row = out_.i.data() + (batch * m_ + i) * n_;
      for (int64_t k = 0; k < k_; ++k) {
        const int64_t x = a.i[static_cast<size_t>(i * k_ + k)];
        const int64_t* y = b.i.data() + k * n_;
        for (int64_t j = 0; j < n_; ++j)
          row[j] = apply(Op::Add, row[j], apply(Op::Mul, x, y[j], node_.dtype), node_.dtype);
      }
    }
    if (a.jumps || b.jumps) {
      out_.make_jumps();
      for (int64_t at = batch * m_ * n_; at < (batch + 1) * m_ * n_; ++at)
        out_.lo[static_cast<size_t>(at)] = out_.hi[static_cast<size_t>(at)] =
            std::numeric_limits<float>::infinity();
    }
  }

  int sharing(int64_t elements) const { return elements < kWorthSharing ? 1 : inner_; }
  Packing left_packing(int64_t width) const { return {m_, k_, width, k_, 1, sharing(m_ * k_)}; }
  Packing right_packing(int64_t width) const { return {n_, k_, width, 1, n_, sharing(n_ * k_)}; }

  template <class L, class R>
  Term term(L left, R right) const {
    return {packed_bound(left_packing(kRows), left),
            packed_bound(right_packing(kGemmColumns<float>), right)};
  }

  Job make_job(const Matrix& a, const Matrix& b) const {
    Job job;
    if (in_float_) {
      job.left_float =
          packed<float>(left_packing(kRows), [&](int64_t, size_t k) { return a.t[k]; });
      job.right_float = packed<float>(right_packing(kGemmColumns<float>),
                                      [&](int64_t, size_t k) { return b.t[k]; });
      return job;
    }
    job.left = packed<double>(left_packing(kRows), [&](int64_t, size_t k) { return a.t[k]; });
    job.right = packed<double>(right_packing(kGemmColumns<double>),
                               [&](int64_t, size_t k) { return b.t[k]; });
    if (s_.mode == Mode::Truth) add_terms(a, b, job);
    return job;
  }

  void add_terms(const Matrix& a, const Matrix& b, Job& job) const {
    const auto ma = [&](size_t k) { return std::fabs(a.t[k]); };
    const auto mb = [&](size_t k) { return std::fabs(b.t[k]); };
    job.size.push_back(term(ma, mb));
    // Where a factor is small against its own error, the product of both errors counts.
    const auto wide_b = [&](size_t k) { return mb(k) + (b.tracks.a ? 4 * b.a[k] : 0.0f); };
    const auto half_b = [&](size_t k) { return mb(k) + (b.tracks.h ? b.h[k] : 0.0f); };
    if (a.tracks.a) job.errors.push_back(term([&](size_t k) { return a.a[k]; }, wide_b));
    if (b.tracks.a) job.errors.push_back(term(ma, [&](size_t k) { return b.a[k]; }));
    const auto square = [](double v) { return v * v; };
    const auto sa = [&](size_t k) { return square(a.t[k]); };
    const auto sb = [&](size_t k) { return square(half_b(k)); };
    if (a.tracks.h) job.squares.push_back(term([&](size_t k) { return square(a.h[k]); }, sb));
    if (b.tracks.h) job.squares.push_back(term(sa, [&](size_t k) { return square(b.h[k]); }));
    if (a.tracks.h && b.tracks.h) {
      job.squares.push_back(term([&](size_t k) { return 2 * std::fabs(a.t[k]) * a.h[k]; },
                                 [&](size_t k) { return half_b(k) * b.h[k]; }));
    }
    if (tf32_) job.tf32.push_back(term(sa, sb));
    if (a.jumps) job.jumps.push_back(term([&](size_t k) { return a.j[k]; }, mb));
    if (b.jumps) {
      const auto wide = [&](size_t k) { return ma(k) + (a.jumps ? a.j[k] : 0.0f); };
      job.jumps.push_back(term(wide, [&](size_t k) { return b.j[k]; }));
    }
    job.unbounded_row.resize(static_cast<size_t>(m_));
    job.unbounded_column.resize(static_cast<size_t>(n_));
    const bool rows_open = any_unbounded(a), columns_open = any_unbounded(b);
    for (size_t k = 0; rows_open && k < a.t.size(); ++k) {
      if (unbounded(a, k)) job.unbounded_row[k / static_cast<size_t>(k_)] = true;
    }
    for (size_t k = 0; columns_open && k < b.t.size(); ++k) {
      if (unbounded(b, k)) job.unbounded_column[k % static_cast<size_t>(n_)] = true;
    }
  }

  static bool unbounded(const Matrix& m, size_t k) {
    return (m.tracks.a && std::isinf(m.a[k])) || (m.tracks.h && std::isinf(m.h[k])) ||
           (m.jumps && std::isinf(m.j[k]));
  }

  bool any_unbounded(const Matrix& m) const {
    const auto count = static_cast<int64_t>(m.t.size());
    if (!m.tracks.a && !m.tracks.h && !m.jumps) return false;
    return in_any_block(sharing(count), count, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (unbounded(m, static_cast<size_t>(k))) return true;
      }
      return false;
    });
  }

  void multiply(const Job& job, int64_t batch, int threads) {
    constexpr int64_t kGroup = 16;  // panels of A that share a panel of B while it is in cache
    const int64_t panels = left_packing(kRows).panels();
    parallel_for(threads, (panels + kGroup - 1) / kGroup, [&](int, int64_t group) {
      const int64_t first = group * kGroup, last = std::min(panels, first + kGroup);
      if (!in_float_) multiply_values(job, batch, first, last);
      if (in_float_ || s_.mode == Mode::Truth) multiply_bounds(job, batch, first, last);
    });
  }

  template <class T, class Use>
  void blocks(const Plane<T>& left, const Plane<T>& right,
              void (*gemm)(int64_t, const T*, const T*, T*), int64_t panel, int64_t column,
              Use use) const {
    constexpr int64_t kColumns = kGemmColumns<T>;
    alignas(64) T sums[kRows * kColumns] = {};
    gemm(k_, left.data.data() + panel * k_ * kRows, right.data.data() + column * k_ * kColumns,
         sums);
    use(sums);
  }

  // Calls body(element of the result, position in the block) for one block.
  template <class Body>
  void each(int64_t batch, int64_t panel, int64_t column, int64_t columns, Body body) const {
    for (int64_t i = 0; i < std::min(kRows, m_ - panel * kRows); ++i) {
      for (int64_t j = 0; j < std::min(columns, n_ - column * columns); ++j) {
        const int64_t row = panel * kRows + i, col = column * columns + j;
        body(static_cast<size_t>((batch * m_ + row) * n_ + col), i * columns + j,
             static_cast<size_t>(row), static_cast<size_t>(col));
      }
    }
  }

  void multiply_values(const Job& job, int64_t batch, int64_t first, int64_t last) {
    const Packing right = right_packing(kGemmColumns<double>);
    for (int64_t column = 0; column < right.panels(); ++column) {
      for (int64_t panel = first; panel < last; ++panel) {
        blocks(job.left, job.right, chunk_loops().gemm_double, panel, column,
               [&](const double* sums) {
                 each(batch, panel, column, right.width, [&](size_t at, int64_t k, size_t, size_t) {
                   out_.t[at] = settled(s_.mode, node_.dtype, sums[k]);
                 });
               });
      }
    }
  }

  void multiply_bounds(const Job& job, int64_t batch, int64_t first, int64_t last) {
    const Packing right = right_packing(kGemmColumns<float>);
    for (int64_t column = 0; column < right.panels(); ++column) {
      for (int64_t panel = first; panel < last; ++panel) {
        if (in_float_) {
          declare(job, batch, panel, column);
        } else {
          bound(job, batch, panel, column);
        }
      }
    }
  }

  void declare(const Job& job, int64_t batch, int64_t panel, int64_t column) {
    blocks(job.left_float, job.right_float, chunk_loops().gemm_float, panel, column,
           [&](const float* sums) {
             each(batch, panel, column, kGemmColumns<float>,
                  [&](size_t at, int64_t k, size_t, size_t) {
                    out_.t[at] = settled(s_.mode, node_.dtype, static_cast<double>(sums[k]));
                  });
           });
  }

  using Sums = double[kGemmRows * kGemmColumns<float>];

  void add_up(const Terms& terms, int64_t panel, int64_t column, Sums& out) const {
    constexpr int64_t kColumns = kGemmColumns<float>;
    for (const Term& term : terms) {
      const double* left = term.left.scale.data() + panel * kRows;
      const double* right = term.right.scale.data() + column * kColumns;
      blocks(term.left, term.right, chunk_loops().gemm_float, panel, column,
             [&](const float* sums) {
               for (int64_t k = 0; k < kRows * kColumns; ++k)
                 out[k] += left[k / kColumns] * right[k % kColumns] * static_cast<double>(sums[k]);
             });
    }
  }

  void bound(const Job& job, int64_t batch, int64_t panel, int64_t column) {
    const exec::BoundConstants& c = exec::bound_constants();
    Sums size = {}, errors = {}, squares = {}, tf32 = {}, jumps = {};
    add_up(job.size, panel, column, size);
    add_up(job.errors, panel, column, errors);
    add_up(job.squares, panel, column, squares);
    add_up(job.tf32, panel, column, tf32);
    add_up(job.jumps, panel, column, jumps);
    const double sum_units =
        (c.sum_root * std::sqrt(static_cast<double>(k_)) + c.sum_plus) * rounding_.unit;
    // One thread adds all products of an element as a rule; those that are alike round alike.
    const double chain_units = static_cast<double>(k_) / (2 * c.path_factor) * rounding_.unit;
    each(batch, panel, column, kGemmColumns<float>,
         [&](size_t at, int64_t k, size_t row, size_t col) {
           const double t = out_.t[at];
           // Infinities count nothing in `size`: what overflows beside them may turn them to NaN.
           const bool unknown =
               job.unbounded_row[row] || job.unbounded_column[col] || size[k] > rounding_.limit;
           // Infinity times what may be zero may be NaN.
           if (!std::isfinite(t) && !unknown && job.errors.empty() && job.squares.empty()) return;
           const double m = std::fabs(t);
           double a = errors[k] + std::max(sum_units * size[k], chain_units * m);
           double h = c.half_sum * std::sqrt(squares[k]) + rounding_.half_unit * m +
                      (m > 0 ? rounding_.half_tiny : 0);
           // Each factor may be rounded or cut to ten bits of mantissa.
           if (tf32_) h += c.half_sum * 0x1p-10 * std::sqrt(tf32[k]) + 0x1p-9 * m;
           if (m > rounding_.half_limit) h = kInfinity;
           if (unknown || !std::isfinite(t)) a = kInfinity;
           if (out_.tracks.a) out_.a[at] = stored_bound(a);
           if (out_.tracks.h) out_.h[at] = stored_bound(h);
           if (!(a < kInfinity) || !(h < kInfinity)) s_.findings.out_of_range = true;
           if (jumps[k] > 0) set_jump(at, jumps[k]);
         });
  }

  void set_jump(size_t at, double jump) {
    out_.make_jumps();
    out_.lo[at] = out_.hi[at] = stored_bound(jump);
  }

  const Sources& s_;
  const Node& node_;
  const Workers& workers_;
  Tensor& out_;
  Rounding rounding_;
  Program left_, right_;
  int64_t m_ = 0, n_ = 0, k_ = 0;
  int inner_ = 1;  // threads for the passes over one matrix
  bool tf32_ = false, in_float_ = false;
};

}  // namespace

void matmul(const Sources& sources, NodeId node, const Workers& workers, Tensor& out) {
  Product(sources, node, workers, out).run();
}

}  // namespace kw::oracle
