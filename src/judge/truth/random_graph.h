// For tests: builds random graphs of about ten nodes over all ops, types and families.
#pragma once

#include <random>

#include "tensor/inputs.h"
#include "truth/test_graph.h"

namespace kw::truth {

class RandomGraph {
 public:
  using Id = TestGraph::Id;
  using Op = graph::Op;
  using OpKind = graph::OpKind;
  using DType = tensor::DType;
  using Family = tensor::Family;

  /// Plain: pointwise ops and reductions. Sliding: windows, folds, pools and products as well.
  enum class Mix { All, Plain, Sliding };

  explicit RandomGraph(uint32_t seed, Mix mix = Mix::All) : random_(seed), mix_(mix) {
    constexpr Family kFamilies[] = {Family::Normal,   Family::Uniform, Family::Heavy,
                                    Family::Offset,   Family::Special, Family::Zeros,
                                    Family::Denormal, Family::Sorted};
    const DType type = pick({DType::Fp32, DType::Fp16, DType::Bf16, DType::Fp64});
    for (int k = 0; k < 2; ++k) {
      const Family family = kFamilies[below(std::size(kFamilies))];
      nodes_.push_back(g_.input(*tensor::make_input(type, {kRows, kCols}, family, random_())));
    }
    nodes_.push_back(g_.input(*tensor::make_input(pick({DType::Int64, DType::Int32}),
                                                  {kRows, kCols}, Family::Uniform, random_())));
    const size_t steps = 2 + below(10);
    for (size_t k = 0; k < steps; ++k) grow();
  }

  TestGraph& graph() { return g_; }
  std::vector<Id> outputs() { return {nodes_.back(), nodes_[nodes_.size() / 2]}; }

 private:
  static constexpr int64_t kRows = 5, kCols = 70;

  size_t below(size_t limit) { return random_() % limit; }
  DType pick(std::initializer_list<DType> types) { return types.begin()[below(types.size())]; }
  Id any() { return nodes_[below(nodes_.size())]; }
  bool is_float(Id id) { return tensor::is_float(g_.builder[id].dtype); }
  Id number() {
    const Id id = any();
    return g_.builder[id].dtype == DType::Bool ? g_.builder.cast(id, DType::Fp32) : id;
  }
  Id floating() {
    const Id id = any();
    return is_float(id) ? id : g_.builder.cast(id, DType::Fp32);
  }
  Id integer() {
    const Id id = any();
    return is_float(id) || g_.builder[id].dtype == DType::Bool ? g_.builder.cast(id, DType::Int64)
                                                               : id;
  }
  Id boolean() {
    const Id id = any();
    return g_.builder[id].dtype == DType::Bool ? id : g_.builder.cast(id, DType::Bool);
  }

  /// Changes any shape back to [kRows, kCols].
  Id full(Id id) {
    const graph::Shape want = {kRows, kCols};
    const graph::Shape have = g_.builder[id].shape;
    if (have == want) return id;
    if (have.size() == 2 && have[0] == kCols) return g_.got(g_.builder.permute(id, {1, 0}));
    return g_.got(g_.builder.expand(id, want));
  }

  void keep(Result<Id> made) {
    if (made) nodes_.push_back(full(*made));  // a node that PyTorch refuses is skipped
  }

  Op op_of(OpKind kind, int inputs) {
    for (;;) {
      const auto op = static_cast<Op>(below(graph::kOps));
      if (graph::op_info(op).kind == kind && graph::op_info(op).inputs == inputs) return op;
    }
  }

  void grow() {
    const size_t drawn = below(mix_ == Mix::Plain ? 8 : 12);
    const bool slides = mix_ == Mix::Sliding && drawn >= 8;
    if (slides && drawn < 10) return drawn == 8 ? windows(any()) : folds(any());
    if (slides) return drawn == 10 ? pools(any()) : product();
    switch (drawn) {
      case 0:
      case 1:
      case 2:
        return unary();
      case 3:
      case 4:
      case 5:
        return binary();
      case 6:
        return keep(g_.builder.where(boolean(), graph::Operand::tensor(any()),
                                     graph::Operand::tensor(any())));
      case 7:
        return reduction();
      case 8:
        return keep(g_.builder.scan(op_of(OpKind::Scan, 1), number(), static_cast<int>(below(2)),
                                    below(2) == 0));
      case 9:
        return selection();
      case 10:
        return movement();
      default:
        return product();
    }
  }

  void unary() {
    const Op op = op_of(OpKind::Pointwise, 1);
    if (op == Op::Cast) {
      nodes_.push_back(g_.builder.cast(
          any(), pick({DType::Fp32, DType::Fp16, DType::Bf16, DType::Fp64, DType::Fp8e4m3,
                       DType::Fp8e5m2, DType::Int32, DType::Int64, DType::Uint8, DType::Bool})));
      // Storage-only types support no arithmetic.
      nodes_.back() = g_.builder.cast(nodes_.back(), pick({DType::Fp32, DType::Fp16}));
      return;
    }
    keep(g_.builder.unary(op, op == Op::Not ? boolean() : any()));
  }

  void binary() {
    const Op op = op_of(OpKind::Pointwise, 2);
    const bool bits = op >= Op::And && op <= Op::ShiftRight;
    const bool divides = op == Op::FloorDiv || op == Op::Remainder || op == Op::Fmod;
    const Id x = bits ? integer() : number();
    Id z = bits ? integer() : number();
    if (divides && !is_float(z)) z = g_.builder.cast(z, DType::Fp32);
    keep(g_.builder.binary(op, graph::Operand::tensor(x), graph::Operand::tensor(z)));
  }

  void reduction() {
    const Op op = op_of(OpKind::Reduction, 1);
    const bool one = op == Op::ArgMax || op == Op::ArgMin;
    std::vector<int> dims = {static_cast<int>(below(2))};
    if (!one && below(3) == 0) dims = {0, 1};
    keep(g_.builder.reduce(op, number(), dims, true));
  }

  void selection() {
    const Op op = op_of(OpKind::Selection, 1);
    graph::Attrs attrs = along(static_cast<int>(below(2)));
    attrs.descending = below(2) == 0;
    const Id x = number();
    keep(g_.builder.add({op, {x}, DType::Fp32, g_.builder[x].shape, attrs, "", 0, 0}));
  }

  void movement() {
    const Id x = any();
    switch (below(7)) {
      case 0: {
        const Id turned = g_.got(g_.builder.permute(x, {1, 0}));
        nodes_.push_back(g_.got(g_.builder.reshape(turned, {kRows, kCols})));
        return;
      }
      case 1: {
        graph::Attrs attrs;
        attrs.dims = {0, 1};
        return keep(g_.builder.add({Op::Flip, {x}, DType::Fp32, {}, attrs, "", 0, 0}));
      }
      case 2: {
        const Id half = g_.got(g_.builder.slice(x, 1, 1, kCols, 2));
        const Id both = g_.add(Op::Concat, {half, half}, along(1));
        return nodes_.push_back(both);
      }
      case 3:
        return windows(x);
      case 4:
        return folds(x);
      case 5:
        return pools(x);
      default: {
        // The remainder brings every index into range.
        const Id index = g_.got(g_.builder.binary(Op::Remainder, graph::Operand::tensor(integer()),
                                                  graph::Operand::of(kRows)));
        const Id wide = g_.builder.cast(index, DType::Int64);
        return keep(g_.builder.add({Op::Gather, {x, wide}, DType::Fp32, {}, along(0), "", 0, 0}));
      }
    }
  }

  graph::Attrs steps(int dim, int64_t stride, int64_t dilation) {
    graph::Attrs attrs = along(dim);
    attrs.steps = {stride, dilation};
    return attrs;
  }
  std::pair<int64_t, int64_t> sizes() {
    const int64_t size = std::initializer_list<int64_t>{2, 5, 7}.begin()[below(3)];
    return {size, 1 + static_cast<int64_t>(below(static_cast<size_t>(size)))};
  }
  /// A dilation for windows of `size` elements that together fill a row of kCols.
  int64_t dilation_within(int64_t size, int64_t stride) {
    const int64_t room = kCols - 1 - (kCols / size - 1) * stride;
    return 1 + static_cast<int64_t>(below(static_cast<size_t>(room / (size - 1))));
  }

  void windows(Id x) {
    const auto [size, stride] = sizes();
    Id seen = g_.add(Op::Window, {x}, steps(1, stride, dilation_within(size, stride)),
                     {kRows, kCols / size, size});
    if (below(2) == 0) seen = g_.got(g_.builder.permute(seen, {0, 2, 1}));
    if (below(2) == 0) seen = g_.got(g_.builder.permute(seen, {1, 0, 2}));
    nodes_.push_back(g_.got(g_.builder.reshape(seen, {kRows, kCols})));
  }

  void folds(Id from) {
    const Id x = g_.builder[from].dtype == DType::Bool ? g_.builder.cast(from, DType::Fp16) : from;
    const auto [size, stride] = sizes();
    Id parts = g_.got(g_.builder.reshape(x, {kRows, kCols / size, size}));
    if (below(2) == 0) {  // every row is one window of the result
      parts = g_.got(g_.builder.reshape(x, {kRows, kCols / kRows, kRows}));
      parts = g_.got(g_.builder.permute(parts, {2, 1, 0}));
      parts = g_.add(Op::Fold, {parts}, steps(0, 1, 1), {2 * kRows - 1, kCols / kRows});
      parts = g_.got(g_.builder.slice(parts, 0, 2, kRows + 2, 1));
      return keep(g_.builder.expand(g_.reduce(Op::Max, parts, {1}), {kRows, kCols}));
    }
    nodes_.push_back(
        g_.add(Op::Fold, {parts}, steps(1, stride, dilation_within(size, stride)), {kRows, kCols}));
  }

  void pools(Id from) {
    const Id x = g_.builder[from].dtype == DType::Bool ? g_.builder.cast(from, DType::Bf16) : from;
    const int64_t size = 2 + static_cast<int64_t>(below(6));
    graph::Attrs front;
    front.starts = {0, static_cast<int64_t>(below(static_cast<size_t>(size)))};
    const Id padded = g_.add(Op::Pad, {x}, front, {kRows, kCols + size - 1});
    const Id seen = g_.add(Op::Window, {padded}, steps(1, 1, 1), {kRows, kCols, size});
    keep(g_.builder.reduce(below(2) == 0 ? Op::Max : Op::Sum, seen, {2}, false));
  }

  void product() {
    const Id x = floating(), z = g_.builder.cast(floating(), g_.builder[x].dtype);
    const Id square = g_.got(g_.builder.matmul(x, g_.got(g_.builder.permute(z, {1, 0}))));
    keep(g_.builder.matmul(square, z));
  }

  std::mt19937 random_;
  Mix mix_;
  TestGraph g_;
  std::vector<Id> nodes_;
};

}  // namespace kw::truth
