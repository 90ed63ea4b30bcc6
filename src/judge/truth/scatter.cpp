// The problem: several writes may reach one position, and PyTorch does not define their order. Sums
// and products add error terms per write. When different values are set at one position, the result
// jumps between them. An uncertain index widens every position that it may select. The writes run
// on one thread in index order, because they may collide. The alternative, sorting by index first,
// would allow several threads but needs memory for the order.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ports/bound.h"
#include "truth/graph_pass.h"
#include "truth/moves.h"
#include "truth/scalar.h"

namespace kw::truth {

using graph::ScatterMode;

namespace {

struct Element {
  double t, a, h, lo, hi;
  int64_t i;
};

class Scattering {
 public:
  Scattering(const Sources& s, NodeId node, Tensor& out)
      : s_(s),
        node_(s.graph[node]),
        out_(out),
        rounding_(rounding_of(node_.dtype, s.flush)),
        range_(s.range_of(node)),
        id_(node) {
    written_.resize(static_cast<size_t>(out.count()));
    if (adds() && !out.tracks.integer && s.mode == Mode::Truth) {
      size_.resize(written_.size());
      for (size_t k = 0; k < size_.size(); ++k) size_[k] = std::fabs(out.t[k]);
    }
  }

  void write(size_t at, const Element& x) {
    ++written_[at];
    if (x.lo > 0 || x.hi > 0) jump(at, x.lo, x.hi);
    if (out_.tracks.integer) return write_integer(at, x);
    switch (node_.attrs.scatter) {
      case ScatterMode::Set:
        return set(at, x);
      case ScatterMode::Add:
        return add(at, x);
      case ScatterMode::Multiply:
        return multiply(at, x);
      default:
        return choose(at, x);
    }
  }

  /// Widens a position at which an element may or may not be written.
  void doubt(size_t at, const Element& x) {
    const double y = out_.tracks.integer ? to_double(out_.i[at], node_.dtype) : out_.t[at];
    const double v = out_.tracks.integer ? to_double(x.i, node_.dtype) : x.t;
    const double moved = adds() ? std::fabs(v) : std::fabs(v) + std::fabs(y);
    jump(at, moved, moved);
  }

  void finish() {
    if (size_.empty()) return;
    for (size_t k = 0; k < size_.size(); ++k) {
      if (written_[k] == 0) continue;
      const double n = written_[k] + 1.0, t = out_.t[k];
      const double tree = tree_units(std::sqrt(n), size_[k]);
      const double chain = ports::chain_units(n) * std::fabs(t);
      TrackedValue y = {t, out_.tracks.a ? out_.a[k] + rounding_.unit * std::max(tree, chain) : 0,
                        0};
      // Atomic additions of half types round at every addition.
      if (out_.tracks.h)
        y.h = out_.h[k] + rounding_.half_unit * std::sqrt(n) * size_[k] +
              (t != 0 ? n * rounding_.half_tiny : 0);
      if (!std::isfinite(t)) y.a = y.h = 0;
      const SumEnds ends =
          std::isfinite(t) ? sum_ends(size_[k], t) : SumEnds{size_[k], size_[k], false};
      s_.findings.mark(id_, limit_sum(range_, ends, y));
      out_.t[k] = y.t;
      if (out_.tracks.a) out_.a[k] = stored_bound(y.a);
      if (out_.tracks.h) out_.h[k] = stored_bound(y.h);
      if (!std::isfinite(y.a) || !std::isfinite(y.h)) s_.findings.unbounded = true;
    }
  }

 private:
  bool adds() const { return node_.attrs.scatter == ScatterMode::Add; }

  void jump(size_t at, double lo, double hi) {
    out_.make_jumps();
    out_.lo[at] = stored_bound(out_.lo[at] + lo);
    out_.hi[at] = stored_bound(out_.hi[at] + hi);
  }

  void set_errors(size_t at, double a, double h) {
    if (out_.tracks.a) out_.a[at] = stored_bound(a);
    if (out_.tracks.h) out_.h[at] = stored_bound(h);
  }
  double a_at(size_t at) const { return out_.tracks.a ? out_.a[at] : 0; }
  double h_at(size_t at) const { return out_.tracks.h ? out_.h[at] : 0; }

  void write_integer(size_t at, const Element& x) {
    const int64_t old = out_.i[at];
    switch (node_.attrs.scatter) {
      case ScatterMode::Set:
        if (written_[at] > 1 && old != x.i)
          differ(at, to_double(old, node_.dtype), to_double(x.i, node_.dtype));
        out_.i[at] = x.i;
        return;
      case ScatterMode::Add:
        out_.i[at] = apply(Op::Add, old, x.i, node_.dtype);
        return;
      case ScatterMode::Multiply:
        out_.i[at] = apply(Op::Mul, old, x.i, node_.dtype);
        return;
      case ScatterMode::Max:
        out_.i[at] = apply(Op::Maximum, old, x.i, node_.dtype);
        return;
      case ScatterMode::Min:
        out_.i[at] = apply(Op::Minimum, old, x.i, node_.dtype);
        return;
    }
  }

  // PyTorch does not define which of several writes to one position stays.
  void differ(size_t at, double old, double now) {
    const double d = std::fabs(old - now);
    jump(at, d, d);
  }

  void set(size_t at, const Element& x) {
    if (written_[at] > 1 && out_.t[at] != x.t) differ(at, out_.t[at], x.t);
    const bool again = written_[at] > 1;
    out_.t[at] = x.t;
    set_errors(at, again ? std::max(x.a, a_at(at)) : x.a, again ? std::max(x.h, h_at(at)) : x.h);
  }

  void add(size_t at, const Element& x) {
    out_.t[at] = stored_value(s_.mode, node_.dtype, out_.t[at] + x.t);
    if (s_.mode != Mode::Truth) return;
    size_[at] += std::fabs(x.t);
    set_errors(at, a_at(at) + x.a, h_at(at) + x.h);
  }

  void multiply(size_t at, const Element& x) {
    const double y = out_.t[at], m = std::fabs(y * x.t);
    const double a = a_at(at), h = h_at(at);
    out_.t[at] = stored_value(s_.mode, node_.dtype, y * x.t);
    set_errors(at, std::fabs(y) * x.a + std::fabs(x.t) * a + 4 * a * x.a + rounding_.unit * m,
               std::fabs(y) * x.h + std::fabs(x.t) * h + h * x.h + rounding_.half_unit * m);
  }

  void choose(size_t at, const Element& x) {
    const Op op = node_.attrs.scatter == ScatterMode::Max ? Op::Maximum : Op::Minimum;
    out_.t[at] = apply(op, out_.t[at], x.t);
    set_errors(at, std::max(x.a, a_at(at)), std::max(x.h, h_at(at)));
  }

  const Sources& s_;
  const Node& node_;
  Tensor& out_;
  Rounding rounding_;
  NodeRange range_;
  NodeId id_;
  std::vector<int32_t> written_;
  std::vector<double> size_;
};

Element element_at(const VectorLanes& lanes, const Tracks& tracks, int k) {
  return {tracks.integer ? 0 : lanes.t[k], tracks.a ? lanes.a[k] : 0,
          tracks.h ? lanes.h[k] : 0,       lanes.jumps ? lanes.lo[k] : 0,
          lanes.jumps ? lanes.hi[k] : 0,   tracks.integer ? lanes.i[k] : 0};
}

}  // namespace

Status scatter(const Sources& s, NodeId node, const Workers& workers, Tensor& out) {
  const Node& n = s.graph[node];
  copy_program(make_program(s, n.inputs[0], {}, false), coalesced(dense_view(out.shape)),
               workers.threads, out);
  const auto dim = static_cast<size_t>(n.attrs.dims[0]);
  const Extents& shape = s.facts[static_cast<size_t>(n.inputs[1])].shape;
  View places = dense_view(out.shape);
  const int64_t stride = places.strides[dim], extent = out.shape[dim];
  places.shape = shape;
  places.strides[dim] = 0;
  places = coalesced(places);
  const TruthProgram index = make_program(s, n.inputs[1], {}, false);
  const TruthProgram source = make_program(s, n.inputs[2], {}, false);
  TruthRunner indices(index), sources(source);
  Scattering scattering(s, node, out);
  std::optional<int64_t> bad;
  for (int64_t at = 0; at < index.count && !bad; at += kChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kChunk, index.count - at));
    const VectorLanes& where = indices.at(at, count);
    const VectorLanes& what = sources.at(at, count);
    const auto clamped = [&](double i) {
      return static_cast<int64_t>(std::clamp(i, 0.0, static_cast<double>(extent - 1)));
    };
    for_runs(places, at, count, [&](int64_t k0, int64_t address, int64_t step, int64_t length) {
      for (int64_t j = 0; j < length && !bad; ++j) {
        const int k = static_cast<int>(k0 + j);
        const int64_t i = where.i[k], base = address + j * step;
        if (i < 0 || i >= extent) {
          bad = i;
          return;
        }
        const Element x = element_at(what, source.tracks, k);
        scattering.write(static_cast<size_t>(base + i * stride), x);
        if (!where.jumps || (where.lo[k] == 0 && where.hi[k] == 0)) continue;
        const int64_t first = clamped(static_cast<double>(i) - where.lo[k]);
        const int64_t last = clamped(static_cast<double>(i) + where.hi[k]);
        for (int64_t other = first; other <= last; ++other)
          scattering.doubt(static_cast<size_t>(base + other * stride), x);
      }
    });
  }
  if (bad) {
    return input_error("index {} is out of bounds for dimension {} with size {}", *bad,
                       n.attrs.dims[0], extent);
  }
  scattering.finish();
  return Done{};
}

}  // namespace kw::truth
