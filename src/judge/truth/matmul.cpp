// The problem: the truth of a matrix product needs an fp64 product and several more products for
// its bounds. The bounds are products of non-negative matrices (magnitudes, errors, squared half
// errors). fp32 is precise enough for them once every row and column is scaled to at most 1. A
// factor shared by many matrices of the batch, such as a convolution's weight, is read and packed
// once. The right factor is processed in blocks of columns that stay in cache, so that the windows
// of an image are never stored as a matrix. The alternative, storing and packing whole matrices,
// would need much more memory. The cost is a second loop structure, for factors that are not kept.
#include "truth/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "os/parallel.h"
#include "truth/factors.h"
#include "truth/levels.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

constexpr int64_t kRows = kGemmRows;
constexpr uint64_t kMostKept = uint64_t{1} << 28;  // limit of bytes of factors kept packed
constexpr int64_t kBlockElements = 1 << 17;        // elements of the right factor per block
constexpr int64_t kLeastColumns = 128;

// One operand of the product: its matrices in batch order.
struct FactorSource {
  FactorSource(const Sources& s, NodeId node, const FactorShape& matrices)
      : program(make_program(s, node, {}, false)), shape(matrices) {
    const int64_t matrix = size();
    if (matrix == 0) return;
    const int64_t all = program.count / matrix, period = period_of(program);
    const int64_t differ = period % matrix == 0 ? period / matrix : all;
    const auto bytes = static_cast<uint64_t>(differ * matrix) * 24;
    if (differ < all && bytes <= kMostKept) kept.resize(static_cast<size_t>(differ));
  }
  int64_t size() const { return shape.lines * shape.depth; }
  bool keeps() const { return !kept.empty(); }

  TruthProgram program;
  FactorShape shape;
  std::vector<PackedFactor> kept;  // all different matrices, if they are few
  std::vector<TruthRunner> evaluators;
  FactorNeeds needs;
};

// Buffers that one worker reuses.
struct Scratch {
  Matrix left, right;
  PackedFactor left_factor, right_factor;
};

using Pairs = std::vector<std::pair<const Plane<float>*, const Plane<float>*>>;

/// The data of one matrix of the batch that its blocks need.
struct Job {
  const PackedFactor& left;
  const PackedFactor& right;
  int64_t batch, first, columns;             // the part of the result
  Pairs size, errors, squares, tf32, jumps;  // pairs of planes to multiply and sum
};

class Product {
 public:
  Product(const Sources& s, NodeId node, const Workers& workers, Tensor& out)
      : s_(s),
        node_(s.graph[node]),
        workers_(workers),
        out_(out),
        rounding_(without_limits(rounding_of(node_.dtype, s.flush))),
        range_(s.range_of(node)),
        id_(node),
        m_(extent(s, 0, 2)),
        n_(out.shape.back()),
        k_(extent(s, 0, 1)),
        least_far_(range_.path / (1 + 0x1p-20 + 0x1p-23 * static_cast<double>(k_))),
        tf32_(workers.tf32 && node_.dtype == DType::Fp32),
        in_float_(sums_in_float(s.mode, node_.dtype)),
        left_(s, node_.inputs[0], {Side::Left, m_, k_}),
        right_(s, node_.inputs[1], {Side::Right, n_, k_}) {
    const Tracks a = left_.program.tracks, b = right_.program.tracks;
    for (FactorSource* one : {&left_, &right_}) {
      const Tracks own = one == &left_ ? a : b, other = one == &left_ ? b : a;
      one->needs.narrow = in_float_;
      one->needs.bounds = s.mode == Mode::Truth;
      one->needs.wide = one == &right_ && other.a && own.a;
      one->needs.error = own.a;
      one->needs.square = other.h || tf32_;
      one->needs.half_square = own.h;
      one->needs.cross = own.h && other.h;
      for (int w = 0; w < workers.threads; ++w) one->evaluators.emplace_back(one->program);
    }
  }

  void run() {
    if (out_.count() == 0) return;
    const int64_t batches = out_.count() / (m_ * n_);
    // Many matrices: each worker takes whole ones. Few: the workers share each one.
    const bool apart = batches >= workers_.threads;
    const int outer = apart ? workers_.threads : 1, inner = apart ? 1 : workers_.threads;
    scratch_.resize(static_cast<size_t>(workers_.threads));
    if (!out_.tracks.integer) {
      keep(left_, scratch_[0].left);
      keep(right_, scratch_[0].right);
    }
    os::parallel_for(outer, batches, [&](int worker, int64_t batch) {
      if (out_.tracks.integer) return multiply_integers(batch, worker, inner);
      Scratch& mine = scratch_[static_cast<size_t>(worker)];
      const PackedFactor& left = factor(left_, batch, worker, inner, mine.left, mine.left_factor);
      multiply_matrix(left, batch, worker, inner);
    });
  }

 private:
  int64_t extent(const Sources& s, size_t input, size_t from_end) const {
    const Extents& shape = s.facts[static_cast<size_t>(node_.inputs[input])].shape;
    return shape[shape.size() - from_end];
  }

  // Returns the worker's own evaluator, or all evaluators if the workers share a matrix.
  static std::span<TruthRunner> evaluators(FactorSource& operand, int worker, int inner) {
    const std::span all(operand.evaluators);
    return inner == 1 ? all.subspan(static_cast<size_t>(worker), 1) : all;
  }

  static void read(FactorSource& operand, int64_t batch, int worker, int inner, Matrix& to) {
    const int64_t matrix = operand.size();
    read_matrix(operand.program, evaluators(operand, worker, inner),
                {batch * matrix, 1, matrix, matrix}, to);
  }

  static void pack(const FactorSource& operand, const Matrix& from, int threads, PackedFactor& to) {
    FactorShape shape = operand.shape;
    shape.threads = threads;
    pack_factor(from, shape, operand.needs, to);
  }

  // Multiplies all columns of one matrix. They are done at once if the right factor is kept;
  // otherwise in blocks, shared by the workers if there are enough blocks.
  void multiply_matrix(const PackedFactor& left, int64_t batch, int worker, int inner) {
    if (right_.keeps()) {
      const PackedFactor& right = right_.kept[static_cast<size_t>(batch) % right_.kept.size()];
      return multiply(job_of(left, right, batch, 0, n_), inner);
    }
    const int64_t wanted = std::max(kLeastColumns, kBlockElements / std::max<int64_t>(k_, 1));
    const int64_t width = std::min(n_, wanted / kLeastColumns * kLeastColumns);
    const int64_t blocks = (n_ + width - 1) / width;
    const bool shared = inner > 1 && blocks >= inner;
    os::parallel_for(shared ? inner : 1, blocks, [&](int peer, int64_t block) {
      const int who = shared ? peer : worker, threads = shared ? 1 : inner;
      multiply_block(left, batch, block * width, std::min(width, n_ - block * width), who, threads);
    });
  }

  void multiply_block(const PackedFactor& left, int64_t batch, int64_t first, int64_t columns,
                      int worker, int threads) {
    Scratch& mine = scratch_[static_cast<size_t>(worker)];
    read_matrix(right_.program, evaluators(right_, worker, threads),
                {batch * k_ * n_ + first, k_, columns, n_}, mine.right);
    pack_factor(mine.right, {Side::Right, columns, k_, threads}, right_.needs, mine.right_factor);
    multiply(job_of(left, mine.right_factor, batch, first, columns), threads);
  }

  void keep(FactorSource& operand, Matrix& scratch) const {
    for (size_t k = 0; k < operand.kept.size(); ++k) {
      read(operand, static_cast<int64_t>(k), 0, workers_.threads, scratch);
      pack(operand, scratch, workers_.threads, operand.kept[k]);
    }
  }

  static const PackedFactor& factor(FactorSource& operand, int64_t batch, int worker, int inner,
                                    Matrix& scratch, PackedFactor& to) {
    if (operand.keeps()) return operand.kept[static_cast<size_t>(batch) % operand.kept.size()];
    read(operand, batch, worker, inner, scratch);
    pack(operand, scratch, inner, to);
    return to;
  }

  void multiply_integers(int64_t batch, int worker, int inner) {
    Matrix &a = scratch_[static_cast<size_t>(worker)].left,
           &b = scratch_[static_cast<size_t>(worker)].right;
    read(left_, batch, worker, inner, a);
    read(right_, batch, worker, inner, b);
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

  Job job_of(const PackedFactor& a, const PackedFactor& b, int64_t batch, int64_t first,
             int64_t columns) const {
    Job job{a, b, batch, first, columns, {}, {}, {}, {}, {}};
    const Tracks left = left_.program.tracks, right = right_.program.tracks;
    if (s_.mode != Mode::Truth) return job;
    job.size = {{&a.magnitude, &b.magnitude}};
    if (left.a) job.errors.push_back({&a.error, right.a ? &b.wide : &b.magnitude});
    if (right.a) job.errors.push_back({&a.magnitude, &b.error});
    if (left.h) job.squares.push_back({&a.half_square, &b.square});
    if (right.h) job.squares.push_back({&a.square, &b.half_square});
    if (left.h && right.h) job.squares.push_back({&a.cross, &b.cross});
    if (tf32_) job.tf32.push_back({&a.square, &b.square});
    if (!a.jump.empty()) job.jumps.push_back({&a.jump, &b.magnitude});
    if (!b.jump.empty()) job.jumps.push_back({a.jump.empty() ? &a.magnitude : &a.reach, &b.jump});
    return job;
  }

  void multiply(const Job& job, int threads) {
    constexpr int64_t kGroup = 16;  // panels of A that reuse a panel of B in cache
    const int64_t panels = (m_ + kRows - 1) / kRows;
    os::parallel_for(threads, (panels + kGroup - 1) / kGroup, [&](int, int64_t group) {
      const int64_t first = group * kGroup, last = std::min(panels, first + kGroup);
      if (!in_float_) multiply_values(job, first, last);
      if (in_float_ || s_.mode == Mode::Truth) multiply_bounds(job, first, last);
    });
  }

  static int64_t column_panels(const Job& job, int64_t width) {
    return (job.columns + width - 1) / width;
  }

  template <class T, class Use>
  void blocks(const Plane<T>& left, const Plane<T>& right,
              void (*gemm)(int64_t, const T*, const T*, T*), int64_t panel, int64_t column,
              int64_t split, Use use) const {
    constexpr int64_t kColumns = kGemmColumns<T>;
    alignas(64) T sums[kRows * kColumns] = {};
    const T* a = left.data.data() + panel * k_ * kRows;
    const T* b = right.data.data() + column * k_ * kColumns;
    gemm(k_ - split, a + split * kRows, b + split * kColumns, sums);
    if (split > 0) gemm(split, a, b, sums);
    use(sums);
  }

  // Calls body(element of the result, position in the block, row, column) for one block.
  template <class Body>
  void each(const Job& job, int64_t panel, int64_t column, int64_t width, Body body) const {
    for (int64_t i = 0; i < std::min(kRows, m_ - panel * kRows); ++i) {
      for (int64_t j = 0; j < std::min(width, job.columns - column * width); ++j) {
        const int64_t row = panel * kRows + i, col = column * width + j;
        body(static_cast<size_t>((job.batch * m_ + row) * n_ + job.first + col), i * width + j,
             static_cast<size_t>(row), static_cast<size_t>(col));
      }
    }
  }

  void multiply_values(const Job& job, int64_t first, int64_t last) {
    constexpr int64_t kWidth = kGemmColumns<double>;
    for (int64_t column = 0; column < column_panels(job, kWidth); ++column) {
      for (int64_t panel = first; panel < last; ++panel) {
        blocks(job.left.value, job.right.value, chunk_loops().gemm_double, panel, column, 0,
               [&](const double* sums) {
                 each(job, panel, column, kWidth, [&](size_t at, int64_t k, size_t, size_t) {
                   out_.t[at] = stored_value(s_.mode, node_.dtype, sums[k]);
                 });
               });
      }
    }
  }

  void multiply_bounds(const Job& job, int64_t first, int64_t last) {
    for (int64_t column = 0; column < column_panels(job, kGemmColumns<float>); ++column) {
      for (int64_t panel = first; panel < last; ++panel) {
        if (in_float_) {
          declare(job, panel, column);
        } else {
          bound(job, panel, column);
        }
      }
    }
  }

  void declare(const Job& job, int64_t panel, int64_t column) {
    // Two chains, one after the other: another order of the same sum.
    const int64_t first =
        workers_.serial > 0 ? first_term(static_cast<int>(k_), workers_.serial) : 0;
    blocks(job.left.narrow, job.right.narrow, chunk_loops().gemm_float, panel, column, first,
           [&](const float* sums) {
             each(job, panel, column, kGemmColumns<float>,
                  [&](size_t at, int64_t k, size_t, size_t) {
                    out_.t[at] = stored_value(s_.mode, node_.dtype, static_cast<double>(sums[k]));
                  });
           });
  }

  using Sums = double[kGemmRows * kGemmColumns<float>];

  void add_up(const Pairs& pairs, int64_t panel, int64_t column, Sums& out) const {
    constexpr int64_t kColumns = kGemmColumns<float>;
    for (const auto& [one, other] : pairs) {
      const double* left = one->scale.data() + panel * kRows;
      const double* right = other->scale.data() + column * kColumns;
      blocks(*one, *other, chunk_loops().gemm_float, panel, column, 0, [&](const float* sums) {
        for (int64_t k = 0; k < kRows * kColumns; ++k)
          out[k] += left[k / kColumns] * right[k % kColumns] * static_cast<double>(sums[k]);
      });
    }
  }

  void bound(const Job& job, int64_t panel, int64_t column) {
    Sums size = {}, errors = {}, squares = {}, tf32 = {}, jumps = {};
    add_up(job.size, panel, column, size);
    add_up(job.errors, panel, column, errors);
    add_up(job.squares, panel, column, squares);
    add_up(job.tf32, panel, column, tf32);
    add_up(job.jumps, panel, column, jumps);
    each(job, panel, column, kGemmColumns<float>,
         [&](size_t at, int64_t k, size_t row, size_t col) {
           const double t = out_.t[at];
           const bool unknown =
               job.left.unbounded[row] || job.right.unbounded[col] || !(size[k] <= kLargest);
           const bool far = size[k] > least_far_;
           // Infinity times a possible zero may be NaN.
           if (!std::isfinite(t) && !unknown && !far && job.errors.empty() && job.squares.empty())
             return;
           TrackedValue y = product_result({t, size[k], errors[k], squares[k]},
                                           std::min(job.left.terms[row], job.right.terms[col]),
                                           std::min(job.left.roots[row], job.right.roots[col]),
                                           tf32[k], tf32_, s_.flush, unknown, rounding_);
           if (!std::isfinite(t) && !unknown && job.errors.empty() && job.squares.empty())
             y.a = y.h = 0;
           const SumEnds ends = far ? ends_of(job, row, col) : SumEnds{};
           s_.findings.mark(id_, limit_sum(range_, ends, y));
           out_.t[at] = y.t;
           if (out_.tracks.a) out_.a[at] = stored_bound(y.a);
           if (out_.tracks.h) out_.h[at] = stored_bound(y.h);
           if (!(y.a < kInfinity) || !(y.h < kInfinity)) s_.findings.unbounded = true;
           if (jumps[k] > 0) set_jump(at, jumps[k]);
         });
  }

  // The sums of the positive and of the negative products of one element. The planes of the bounds
  // are too coarse: beside a huge product, fp32 loses what decides a class. An infinite factor
  // belongs to no side, unlike a product that fp64 cannot hold.
  SumEnds ends_of(const Job& job, size_t row, size_t col) const {
    const auto depth = static_cast<size_t>(k_);
    constexpr auto kHigh = static_cast<size_t>(kRows);
    constexpr auto kWide = static_cast<size_t>(kGemmColumns<double>);
    const double* left = job.left.value.data.data() + row / kHigh * depth * kHigh + row % kHigh;
    const double* right = job.right.value.data.data() + col / kWide * depth * kWide + col % kWide;
    SumEnds ends;
    ends.apart = true;
    for (size_t k = 0; k < depth; ++k) {
      const double x = left[k * kHigh], z = right[k * kWide];
      if (!(std::fabs(x) <= kLargest && std::fabs(z) <= kLargest)) continue;
      (x * z > 0 ? ends.up : ends.down) += std::fabs(x * z);
    }
    return ends;
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
  NodeRange range_;
  NodeId id_;
  int64_t m_, n_, k_;
  double least_far_;  // sums of magnitudes in fp32 that may be larger than the range
  bool tf32_, in_float_;
  FactorSource left_, right_;
  std::vector<Scratch> scratch_;  // per worker
};

}  // namespace

void matmul(const Sources& sources, NodeId node, const Workers& workers, Tensor& out) {
  Product(sources, node, workers, out).run();
}

}  // namespace kw::truth
