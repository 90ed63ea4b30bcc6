// The problem: a transposed convolution is a product whose windows are summed where they overlap,
// and storing all windows costs much memory. The choice: it is itself a convolution. With stride s
// every result is at q * s + phase and uses the taps t * s + phase of the window that starts at q -
// t. So the phases become rows of the product beside the channels, and its columns read windows of
// ceil(taps / s) elements. The alternative, a fold after the product, stores all windows. The cost:
// a fixed form of folds and slices is required. Positions that are sliced off afterwards, as in the
// gradient of a padding, are not computed.
#include <algorithm>
#include <map>

#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

/// One spatial dim of the folds.
struct Spatial {
  int64_t stride = 1, dilation = 1, kernel = 1;
  Dim size{1};    // number of windows before
  Dim start{0};   // elements sliced off at the front
  Dim extent{1};  // of the result

  int64_t taps() const { return (kernel + stride - 1) / stride; }
  int64_t reach() const { return (taps() - 1) * dilation; }
  /// 1 if the result needs one more position than the windows give, because of rounding up.
  int64_t more() const {
    const Dim enough = (size + Dim(reach())) * Dim(stride) - start - extent;
    return never_negative(enough) ? 0 : 1;
  }
  /// Positions at the front, and at the end, that the result does not need.
  int64_t skipped() const {
    return start.is_constant() ? std::min(start.value() / stride, reach()) : 0;
  }
  int64_t dropped() const {
    const Dim spare = (size + Dim(reach() + more())) * Dim(stride) - start - extent;
    if (!spare.is_constant()) return 0;
    return std::clamp<int64_t>(spare.value() / stride, 0, reach() + more());
  }
  Dim places() const { return size + Dim(reach() + more() - skipped() - dropped()); }
};

bool starts_at_zero(const Node& slice, size_t d, const Shape& before) {
  return slice.attrs.starts[d].same_text(Dim(0)) && slice.shape[d].same_text(before[d]);
}

class Unfold {
 public:
  Unfold(Rewriter& r, const Node& fold) : r_(r), fold_(fold), whole_(fold.shape) {}

  /// `slice` is the only part of the result that is used; may be null.
  std::optional<NodeId> run(const Node* slice = nullptr) {
    if (!find_folds() || (slice != nullptr && !cut(*slice)) || !find_product()) return std::nullopt;
    Shape shape = batch_;
    shape.push_back(per_ * Dim(phases()));
    shape.push_back(count(&Spatial::places));
    const NodeId one = left(), other = right();
    return shuffled(make(Op::MatMul, {one, other}, shape));
  }

 private:
  size_t dims() const { return along_.size(); }

  NodeId make(Op op, std::vector<NodeId> inputs, Shape shape, graph::Attrs attrs = {}) {
    Node node = fold_;
    node.op = op;
    node.dtype = r_[inputs[0]].dtype;
    node.inputs = std::move(inputs);
    node.shape = std::move(shape);
    node.attrs = std::move(attrs);
    return r_.add(std::move(node));
  }

  NodeId permuted(NodeId x, const std::vector<size_t>& order) {
    graph::Attrs attrs;
    Shape shape;
    for (const size_t d : order) {
      attrs.dims.push_back(static_cast<int>(d));
      shape.push_back(r_[x].shape[d]);
    }
    return make(Op::Permute, {x}, shape, attrs);
  }

  Dim count(Dim (Spatial::*of)() const) const {
    Dim product(1);
    for (const Spatial& one : along_) product = product * (one.*of)();
    return product;
  }
  int64_t phases() const {
    int64_t product = 1;
    for (const Spatial& one : along_) product *= one.stride;
    return product;
  }
  int64_t taps() const {
    int64_t product = 1;
    for (const Spatial& one : along_) product *= one.taps();
    return product;
  }

  /// Finds folds of the dims after the first two, outermost first, with only slices between them.
  bool find_folds() {
    const Node* at = &fold_;
    for (;;) {
      if (at->attrs.dims[0] != static_cast<int>(2 + dims())) return false;
      along_.push_back({at->attrs.steps[0], at->attrs.steps[1], 1, Dim(1), Dim(0), Dim(1)});
      base_ = at->inputs[0];
      const Node& below = r_[base_];
      if (below.op == Op::Slice && r_[below.inputs[0]].op == Op::Fold) {
        if (!slices_next(below)) return false;
        base_ = below.inputs[0];
      }
      if (r_[base_].op != Op::Fold) break;
      at = &r_[base_];
    }
    if (fold_.shape.size() != 2 + dims()) return false;
    for (size_t i = 0; i < dims(); ++i) {
      if (i < starts_.size()) along_[i].start = starts_[i];
      along_[i].extent = fold_.shape[2 + i];
    }
    return true;
  }

  /// Applies a slice of spatial dims only, after all folds.
  bool cut(const Node& slice) {
    for (size_t d = 0; d < slice.shape.size(); ++d) {
      if (slice.attrs.steps[d] != 1) return false;
      if (d < 2 && !starts_at_zero(slice, d, fold_.shape)) return false;
    }
    for (size_t i = 0; i < dims(); ++i) {
      along_[i].start = along_[i].start + slice.attrs.starts[2 + i];
      along_[i].extent = slice.shape[2 + i];
    }
    whole_ = slice.shape;
    return true;
  }

  /// Applies a slice of only the next fold's dim.
  bool slices_next(const Node& slice) {
    const size_t next = 2 + dims();
    const Shape& before = r_[slice.inputs[0]].shape;
    for (size_t d = 0; d < slice.shape.size(); ++d) {
      if (slice.attrs.steps[d] != 1) return false;
      if (d != next && !starts_at_zero(slice, d, before)) return false;
    }
    starts_.resize(dims() + 1, Dim(0));
    starts_[dims()] = slice.attrs.starts[next];
    return true;
  }

  /// Finds the product below: its rows are channels and taps, its columns the windows.
  bool find_product() {
    const Node& turned = r_[base_];
    if (turned.op != Op::Permute || turned.shape.size() != 2 + 2 * dims()) return false;
    for (size_t d = 0; d < turned.attrs.dims.size(); ++d) {
      const size_t from = d < 2 ? d : d < 2 + dims() ? d + dims() : d - dims();
      if (turned.attrs.dims[d] != static_cast<int>(from)) return false;
    }
    const Node& split = r_[turned.inputs[0]];
    if (split.op != Op::Reshape || r_[split.inputs[0]].op != Op::MatMul) return false;
    product_ = split.inputs[0];
    const Shape& whole = r_[product_].shape;
    if (whole.size() < 3) return false;
    batch_.assign(whole.begin(), whole.end() - 2);
    images_ = split.shape[0];
    channels_ = split.shape[1];
    return find_extents(split.shape, whole);
  }

  bool find_extents(const Shape& split, const Shape& whole) {
    Dim kernels(1), columns(1);
    for (size_t i = 0; i < dims(); ++i) {
      const Dim& kernel = split[2 + i];
      Spatial& one = along_[i];
      if (!kernel.is_constant() || kernel.value() < 1) return false;
      if (one.stride > 1 && one.dilation > 1) return false;
      one.kernel = kernel.value();
      one.size = split[2 + dims() + i];
      kernels = kernels * kernel;
      columns = columns * one.size;
      const int64_t reached = (one.places().value() + one.skipped()) * one.stride;
      if (reached < one.start.value() + one.extent.value()) return false;
    }
    const Dim& rows = whole[whole.size() - 2];
    per_ = floor_div(rows, kernels);
    return (per_ * kernels).same_text(rows) && columns.same_text(whole.back()) &&
           (graph::count_of(batch_) * per_).same_text(images_ * channels_);
  }

  /// [batch, channels and phases, depth and taps], with the taps in reverse order.
  NodeId left() {
    const NodeId weight = r_[product_].inputs[0];
    const Dim depth = r_[weight].shape.back();
    const size_t first = batch_.size() + 1;
    Shape apart = batch_, wide = batch_, cut = batch_;
    for (Shape* shape : {&apart, &wide, &cut}) shape->push_back(per_);
    graph::Attrs flip;
    for (size_t i = 0; i < dims(); ++i) {
      const Spatial& one = along_[i];
      apart.emplace_back(one.kernel);
      wide.emplace_back(one.taps() * one.stride);
      cut.emplace_back(one.taps());
      cut.emplace_back(one.stride);
      flip.dims.push_back(static_cast<int>(first + 2 * i));
    }
    for (Shape* shape : {&apart, &wide, &cut}) shape->push_back(depth);
    graph::Attrs pad;
    pad.starts.assign(wide.size(), Dim(0));
    NodeId x = make(Op::Reshape, {weight}, apart);
    x = make(Op::Pad, {x}, wide, pad);
    x = make(Op::Reshape, {x}, cut);
    x = make(Op::Flip, {x}, cut, flip);
    std::vector<size_t> order;
    for (size_t d = 0; d < first; ++d) order.push_back(d);
    for (size_t i = 0; i < dims(); ++i) order.push_back(first + 2 * i + 1);
    order.push_back(first + 2 * dims());
    for (size_t i = 0; i < dims(); ++i) order.push_back(first + 2 * i);
    Shape matrix = batch_;
    matrix.push_back(per_ * Dim(phases()));
    matrix.push_back(depth * Dim(taps()));
    return make(Op::Reshape, {permuted(x, order)}, matrix);
  }

  /// [batch, depth and taps, positions].
  NodeId right() {
    const NodeId input = r_[product_].inputs[1];
    const size_t first = batch_.size() + 1;
    Shape shape = batch_;
    shape.push_back(r_[input].shape[first - 1]);
    graph::Attrs pad;
    pad.starts.assign(first, Dim(0));
    Shape padded = shape;
    for (const Spatial& one : along_) {
      shape.push_back(one.size);
      padded.push_back(one.places() + Dim(one.reach()));
      pad.starts.emplace_back(one.reach() - one.skipped());
    }
    NodeId x = make(Op::Pad, {make(Op::Reshape, {input}, shape)}, padded, pad);
    for (size_t i = 0; i < dims(); ++i) {
      padded[first + i] = along_[i].places();
      padded.emplace_back(along_[i].taps());
      graph::Attrs window;
      window.dims = {static_cast<int>(first + i)};
      window.steps = {1, along_[i].dilation};
      x = make(Op::Window, {x}, padded, window);
    }
    std::vector<size_t> order;
    for (size_t d = 0; d < first; ++d) order.push_back(d);
    for (size_t i = 0; i < dims(); ++i) order.push_back(first + dims() + i);
    for (size_t i = 0; i < dims(); ++i) order.push_back(first + i);
    Shape matrix = batch_;
    matrix.push_back(shape[first - 1] * Dim(taps()));
    matrix.push_back(count(&Spatial::places));
    return make(Op::Reshape, {permuted(x, order)}, matrix);
  }

  /// Moves the phases between their positions and slices the needed part.
  NodeId shuffled(NodeId y) {
    Shape apart = batch_, joined = {images_, channels_};
    apart.push_back(per_);
    const size_t first = apart.size();
    for (const Spatial& one : along_) apart.emplace_back(one.stride);
    std::vector<size_t> order;
    for (size_t d = 0; d < first; ++d) order.push_back(d);
    graph::Attrs slice;
    slice.starts.assign(2, Dim(0));
    for (size_t i = 0; i < dims(); ++i) {
      const Spatial& one = along_[i];
      apart.push_back(one.places());
      joined.push_back(one.places() * Dim(one.stride));
      order.push_back(first + dims() + i);
      order.push_back(first + i);
      slice.starts.push_back(one.start - Dim(one.skipped() * one.stride));
    }
    slice.steps.assign(slice.starts.size(), 1);
    y = permuted(make(Op::Reshape, {y}, apart), order);
    return make(Op::Slice, {make(Op::Reshape, {y}, joined)}, whole_, slice);
  }

  Rewriter& r_;
  const Node fold_;
  Shape whole_;  // shape of the needed part
  std::vector<Spatial> along_;
  std::vector<Dim> starts_;  // starts of the slices after each fold
  NodeId base_ = 0, product_ = 0;
  Shape batch_;
  Dim images_{1}, channels_{1}, per_{1};
};

}  // namespace

Graph unfold(const Graph& graph) {
  const std::vector<int> uses = uses_of(graph);
  std::map<NodeId, Node> folds;  // folds read once, by their new node
  size_t old = 0;
  return Rewriter(graph).run([&](Rewriter& r, const Node& node) -> std::optional<NodeId> {
    const bool once = uses[old++] == 1;
    if (node.op == Op::Slice) {
      const auto fold = folds.find(node.inputs[0]);
      return fold == folds.end() ? std::nullopt : Unfold(r, fold->second).run(&node);
    }
    if (node.op != Op::Fold) return std::nullopt;
    const auto product = Unfold(r, node).run();
    if (product && once) folds.insert({*product, node});
    return product;
  });
}

}  // namespace kw::generate
