// The problem: Fold adds overlapping windows back, so one result depends on elements that lie far
// apart. The input is read as [position in the window, outer, windows, inner]: one position in all
// windows is one run of elements. Blocks of the result are summed separately, position by position,
// so the result does not depend on the threads. The alternative, adding windows to the result in
// input order, would need locks or atomics. The cost: each block reads several separate runs of the
// input.
#include <algorithm>
#include <utility>

#include "os/parallel.h"
#include "truth/errors.h"
#include "truth/moves.h"
#include "truth/scalar.h"

namespace kw::truth {

namespace {

constexpr int64_t kBlock = 4096;  // elements of the result that are summed together

// A part of the result, at most about one block.
struct Part {
  int64_t outer, outers, place, places, inner, inners;
  size_t count() const { return static_cast<size_t>(outers * places * inners); }
};

struct OverlapSums {
  std::vector<double> t, size, a, squares, lo, hi;
  std::vector<float> narrow;
  std::vector<int64_t> i;
  bool jumps = false;
};

class Overlap {
 public:
  Overlap(const Sources& s, NodeId node, const Workers& workers, Tensor& out)
      : s_(s),
        node_(s.graph[node]),
        workers_(workers),
        out_(out),
        rounding_(without_limits(rounding_of(node_.dtype, s.flush))),
        range_(s.range_of(node)),
        id_(node),
        narrow_(sums_in_float(s.mode, node_.dtype)),
        layout_(fold_layout(node_, s.facts[static_cast<size_t>(node_.inputs[0])].shape)),
        program_(make_program(s, node_.inputs[0], layout_.order, false)) {
    stride_ = node_.attrs.steps[0];
    dilation_ = node_.attrs.steps[1];
    for (int w = 0; w < workers.threads; ++w) evaluators_.emplace_back(program_);
    count_terms();
  }

  void run() {
    if (out_.count() == 0) return;
    const int64_t inners = std::min(layout_.inner, kBlock);
    const int64_t places = std::clamp<int64_t>(kBlock / layout_.inner, 1, layout_.extent);
    const int64_t outers =
        std::clamp<int64_t>(kBlock / (layout_.extent * layout_.inner), 1, layout_.outer);
    const auto pieces = [](int64_t whole, int64_t part) { return (whole + part - 1) / part; };
    const int64_t across = pieces(layout_.inner, inners), along = pieces(layout_.extent, places);
    os::parallel_for(workers_.threads, pieces(layout_.outer, outers) * along * across,
                     [&](int worker, int64_t unit) {
                       Part part;
                       part.inner = unit % across * inners;
                       part.place = unit / across % along * places;
                       part.outer = unit / across / along * outers;
                       part.inners = std::min(inners, layout_.inner - part.inner);
                       part.places = std::min(places, layout_.extent - part.place);
                       part.outers = std::min(outers, layout_.outer - part.outer);
                       add_up(worker, part);
                     });
  }

 private:
  // Counts the elements that are added at every position.
  void count_terms() {
    terms_.assign(static_cast<size_t>(layout_.extent), 0);
    for (int64_t k = 0; k < layout_.inside; ++k)
      for (int64_t i = 0; i < layout_.windows; ++i)
        ++terms_[static_cast<size_t>(i * stride_ + k * dilation_)];
  }

  OverlapSums empty(const Part& part) const {
    OverlapSums sums;
    const size_t n = part.count();
    if (out_.tracks.integer) {
      sums.i.resize(n);
    } else if (narrow_) {
      sums.narrow.resize(n);
    } else {
      sums.t.resize(n);
    }
    if (s_.mode != Mode::Truth || out_.tracks.integer) return sums;
    sums.size.resize(n);
    if (program_.tracks.a) sums.a.resize(n);
    if (program_.tracks.h) sums.squares.resize(n);
    return sums;
  }

  // Returns the windows whose k-th element lies in the part: first and count.
  std::pair<int64_t, int64_t> windows_in(const Part& part, int64_t k) const {
    const int64_t begin = part.place - k * dilation_, end = begin + part.places;
    const int64_t first = begin > 0 ? (begin + stride_ - 1) / stride_ : 0;
    const int64_t last = end > 0 ? std::min(layout_.windows, (end - 1) / stride_ + 1) : 0;
    return {first, std::max<int64_t>(last - first, 0)};
  }

  void add_up(int worker, const Part& part) {
    OverlapSums sums = empty(part);
    for (int64_t k = 0; k < layout_.inside; ++k) {
      const auto [first, count] = windows_in(part, k);
      if (count == 0) continue;
      View target{{part.outers, count, part.inners},
                  {part.places * part.inners, stride_ * part.inners, 1},
                  (first * stride_ + k * dilation_ - part.place) * part.inners};
      target = coalesced(target);
      // If the part has only some of the inner elements, its rows lie apart in the input; otherwise
      // they are one run.
      const bool whole = part.inners == layout_.inner;
      const int64_t rows = whole ? 1 : count, length = count_of(target.shape) / rows;
      const int64_t begin =
          ((k * layout_.outer + part.outer) * layout_.windows + first) * layout_.inner + part.inner;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t at = 0; at < length; at += kChunk) {
          const int n = static_cast<int>(std::min<int64_t>(kChunk, length - at));
          const VectorLanes& lanes =
              evaluators_[static_cast<size_t>(worker)].at(begin + row * layout_.inner + at, n);
          add(lanes, target, row * length + at, n, sums);
        }
      }
    }
    write(part, sums);
  }

  void add(const VectorLanes& x, const View& target, int64_t start, int count,
           OverlapSums& sums) const {
    if (x.jumps && !sums.jumps) {
      const size_t n = std::max({sums.t.size(), sums.i.size(), sums.narrow.size()});
      sums.lo.assign(n, 0);
      sums.hi.assign(n, 0);
      sums.jumps = true;
    }
    const auto plain = [](double v) { return v; };
    for_runs(target, start, count, [&](int64_t at, int64_t address, int64_t step, int64_t length) {
      const auto each = [&](const double* from, auto& to, auto value) {
        for (int64_t k = 0; k < length; ++k)
          to[static_cast<size_t>(address + k * step)] += value(from[at + k]);
      };
      if (!sums.i.empty()) {
        for (int64_t k = 0; k < length; ++k) {
          int64_t& sum = sums.i[static_cast<size_t>(address + k * step)];
          sum = apply(Op::Add, sum, x.i[at + k], node_.dtype);
        }
      } else if (!sums.narrow.empty()) {
        each(x.t, sums.narrow, [](double v) { return static_cast<float>(v); });
      } else {
        each(x.t, sums.t, plain);
      }
      if (!sums.size.empty()) each(x.t, sums.size, [](double v) { return finite_magnitude(v); });
      if (!sums.a.empty()) each(x.a, sums.a, plain);
      if (!sums.squares.empty()) each(x.h, sums.squares, [](double v) { return v * v; });
      if (!x.jumps) return;
      each(x.lo, sums.lo, plain);
      each(x.hi, sums.hi, plain);
    });
  }

  void write(const Part& part, const OverlapSums& sums) {
    size_t from = 0;
    for (int64_t o = 0; o < part.outers; ++o) {
      for (int64_t p = 0; p < part.places; ++p) {
        const int64_t place = part.place + p;
        const int64_t row =
            ((part.outer + o) * layout_.extent + place) * layout_.inner + part.inner;
        for (int64_t r = 0; r < part.inners; ++r, ++from)
          write_one(sums, from, static_cast<size_t>(row + r), terms_[static_cast<size_t>(place)]);
      }
    }
  }

  void write_one(const OverlapSums& sums, size_t from, size_t at, int64_t terms) {
    if (!sums.i.empty()) {
      out_.i[at] = sums.i[from];
    } else {
      const double t = narrow_ ? static_cast<double>(sums.narrow[from]) : sums.t[from];
      out_.t[at] = stored_value(s_.mode, node_.dtype, t);
    }
    if (!sums.size.empty()) {
      TrackedValue e = sum_errors(rounding_, terms,
                                  {sums.t[from], sums.size[from], sums.a.empty() ? 0 : sums.a[from],
                                   sums.squares.empty() ? 0 : sums.squares[from]});
      // With an infinite term, the finite ones may all have one sign.
      const double size = sums.size[from], net = std::isfinite(e.t) ? e.t : 0;
      const SumEnds ends = std::isfinite(e.t) ? sum_ends(size, net) : SumEnds{size, size, false};
      s_.findings.mark(id_, limit_sum(range_, ends, e));
      out_.t[at] = e.t;
      if (out_.tracks.a) out_.a[at] = stored_bound(e.a);
      if (out_.tracks.h) out_.h[at] = stored_bound(e.h);
      if (!(e.a < kInfinity && e.h < kInfinity)) s_.findings.unbounded = true;
    }
    if (!sums.jumps || !(sums.lo[from] > 0 || sums.hi[from] > 0)) return;
    out_.make_jumps();
    out_.lo[at] = stored_bound(sums.lo[from]);
    out_.hi[at] = stored_bound(sums.hi[from]);
  }

  const Sources& s_;
  const Node& node_;
  const Workers& workers_;
  Tensor& out_;
  Rounding rounding_;
  NodeRange range_;
  NodeId id_;
  bool narrow_;  // declared precision: sums in fp32
  FoldLayout layout_;
  TruthProgram program_;
  std::vector<TruthRunner> evaluators_;
  int64_t stride_ = 1, dilation_ = 1;
  std::vector<int64_t> terms_;
};

}  // namespace

FoldLayout fold_layout(const Node& node, const Extents& from) {
  FoldLayout layout;
  const auto dim = static_cast<size_t>(node.attrs.dims[0]);
  layout.order = {static_cast<int>(from.size()) - 1};
  for (size_t d = 0; d + 1 < from.size(); ++d) {
    layout.order.push_back(static_cast<int>(d));
    if (d < dim) layout.outer *= from[d];
    if (d > dim) layout.inner *= from[d];
  }
  layout.windows = from[dim];
  layout.inside = from.back();
  layout.extent = node.shape[dim].value();
  return layout;
}

void overlap_add(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  Overlap(s, node, workers, out).run();
}

}  // namespace kw::truth
