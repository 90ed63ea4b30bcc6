// The problem: the metric judges an index by its score, so scores must have the order of the
// output's elements. View ops between the index and the output are applied to the scores as well.
// Permutes, slices, flips and dims of extent 1 are followed through a view; the scores are read
// once at the end. The alternative, gathering scores per output element, would lose the other
// candidates on the line. The cost: if an op cannot be followed, the output has no scores and is
// judged as plain integers.
#include <algorithm>
#include <memory>

#include "core/contains.h"
#include "os/parallel.h"
#include "ports/bound.h"
#include "truth/output.h"
#include "truth/scalar.h"

namespace kw::truth {

using ports::Scores;

namespace {

// Follows the dims of the ranked tensor through view ops.
class Tracker {
 public:
  /// `ordered`: positions along the dim are ranks, so a slice may skip the first ranks.
  Tracker(const Extents& index_shape, View scores, int dim, bool ordered)
      : shape_(index_shape), scores_(std::move(scores)), dim_(dim), ordered_(ordered) {
    for (size_t d = 0; d < index_shape.size(); ++d) label_.push_back(static_cast<int>(d));
  }

  /// Returns false when the scores cannot follow the op.
  bool move(const Node& op) {
    const Extents shape = graph::values_of(op.shape);
    if (op.op == Op::Reshape) return reshape(shape);
    if (sealed_) return false;
    switch (op.op) {
      case Op::Permute:
        permute(op.attrs.dims);
        break;
      case Op::Slice:
        if (!slice(op, shape)) return false;
        break;
      case Op::Flip:
        if (!flip(op)) return false;
        break;
      default:
        return shape == shape_;
    }
    shape_ = shape;
    return true;
  }

  int64_t skip() const { return skip_; }
  /// Returns the scores in the output's order, and the position of the ranked dim.
  View result(int& dim) const {
    std::vector<int> order;
    for (const int label : label_) {
      if (label >= 0) order.push_back(label);
    }
    for (int d = 0; d < static_cast<int>(scores_.shape.size()); ++d) {
      const bool dropped = !contains(order, d);
      if (dropped) order.push_back(d);
    }
    dim = static_cast<int>(std::find(order.begin(), order.end(), dim_) - order.begin());
    return permuted(scores_, order);
  }

 private:
  // Dims of extent 1 may appear and disappear; after any other reshape only the flat order is
  // known.
  bool reshape(const Extents& shape) {
    std::vector<int> label(shape.size(), -1);
    size_t from = 0;
    bool units_only = true;
    for (size_t to = 0; to < shape.size(); ++to) {
      if (shape[to] == 1) continue;
      while (from < shape_.size() && shape_[from] == 1) ++from;
      if (from == shape_.size() || shape_[from] != shape[to]) {
        units_only = false;
        break;
      }
      label[to] = label_[from++];
    }
    if (units_only && !sealed_) {
      label_ = label;
      shape_ = shape;
    } else {
      sealed_ = true;
    }
    return true;
  }

  void permute(const std::vector<int>& dims) {
    std::vector<int> label;
    for (const int d : dims) label.push_back(label_[static_cast<size_t>(d)]);
    label_ = label;
  }

  bool slice(const Node& op, const Extents& shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t start = op.attrs.starts[d].value(), step = op.attrs.steps[d];
      if (start == 0 && shape[d] == shape_[d]) continue;
      if (label_[d] == dim_) {
        if (step != 1 || (start != 0 && !ordered_)) return false;
        skip_ += start;
        continue;  // fewer of the best: the scores stay
      }
      if (label_[d] < 0) continue;
      const auto s = static_cast<size_t>(label_[d]);
      scores_.offset += start * scores_.strides[s];
      scores_.strides[s] *= step;
      scores_.shape[s] = shape[d];
    }
    return true;
  }

  bool flip(const Node& op) {
    for (const int dim : op.attrs.dims) {
      const int label = label_[static_cast<size_t>(dim)];
      if (label == dim_) return false;
      if (label < 0) continue;
      const auto s = static_cast<size_t>(label);
      scores_.offset += (scores_.shape[s] - 1) * scores_.strides[s];
      scores_.strides[s] = -scores_.strides[s];
    }
    return true;
  }

  Extents shape_;
  View scores_;
  int dim_;
  bool ordered_;
  int64_t skip_ = 0;
  std::vector<int> label_;  // per dim: the dim of the scores, -1: none
  bool sealed_ = false;
};

void fill_scores(const Tensor& ranked, const View& view, int threads, Scores& out) {
  const int64_t count = count_of(view.shape);
  out.value.resize(static_cast<size_t>(count));
  out.bound.resize(static_cast<size_t>(count));
  const View flat = coalesced(view);
  os::in_blocks(threads, count, [&](int64_t begin, int64_t end) {
    const auto lanes = std::make_unique<VectorLanes>();
    for (int64_t at = begin; at < end; at += kChunk) {
      const int n = static_cast<int>(std::min<int64_t>(kChunk, end - at));
      load(ranked, flat, at, n, *lanes);
      for (int k = 0; k < n; ++k) {
        const auto to = static_cast<size_t>(at + k);
        out.value[to] = ranked.tracks.integer ? to_double(lanes->i[k], ranked.dtype) : lanes->t[k];
        double bound = lanes->jumps ? std::max(lanes->lo[k], lanes->hi[k]) : 0;
        if (ranked.tracks.a) bound += ports::bound_constants().path_factor * lanes->a[k];
        if (ranked.tracks.h) bound += lanes->h[k];
        out.bound[to] = stored_bound(bound);
      }
    }
  });
}

Scores::Rank rank_of(Op op) {
  if (op == Op::ArgMax || op == Op::ArgMin) return Scores::Rank::Best;
  return op == Op::CumMaxIndex || op == Op::CumMinIndex ? Scores::Rank::Prefix
                                                        : Scores::Rank::Order;
}

}  // namespace

Result<std::optional<Scores>> make_scores(Run& run, const Graph& graph, const ScoreSource& source) {
  const Node& index = graph[source.index];
  const Extents& shape = run.facts(source.node).shape;
  const bool ordered = rank_of(index.op) == Scores::Rank::Order;
  Tracker tracker(run.facts(source.index).shape, dense_view(shape), index.attrs.dims[0], ordered);
  for (const Node* move : source.moves) {
    if (!tracker.move(*move)) return std::optional<Scores>{};
  }
  Scores scores;
  const View view = tracker.result(scores.dim);
  scores.shape = view.shape;
  scores.extent = view.shape[static_cast<size_t>(scores.dim)];
  scores.rank = rank_of(index.op);
  scores.reverse = index.attrs.reverse;
  scores.skip = tracker.skip();
  scores.nan_first = source.nan_first;
  const bool either_way = index.op == Op::TopKIndices || index.op == Op::SortIndices;
  scores.largest =
      either_way ? index.attrs.descending : index.op == Op::ArgMax || index.op == Op::CumMaxIndex;
  scores.first_of_ties = scores.rank == Scores::Rank::Best ||
                         (index.op == Op::SortIndices && index.attrs.integer == 1);
  if (graph[source.node].op == Op::Input) {
    fill_scores(KW_TRY(run.copy(source.node)), view, run.threads(), scores);
  } else {
    fill_scores(run.value(source.node), view, run.threads(), scores);
  }
  return std::optional<Scores>{std::move(scores)};
}

}  // namespace kw::truth
