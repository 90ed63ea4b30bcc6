// Random programs over the whole interface. Every graph that the builder accepts must verify and
// have a cost. Its simplified form must verify and compute the same.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "graph/builder.h"
#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"
#include "graph/cost.h"

namespace kw::graph {

class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {}

  Graph build() {
    for (int i = 0; i < 3; ++i)
      made_.push_back(b_.input("x" + std::to_string(i), dtype(), shape()));
    for (int i = 0; i < 12; ++i) step();
    return std::move(b_).finish({{"y", made_.back()}, {"z", pick()}});
  }
  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  NodeId pick() { return made_[static_cast<size_t>(below(static_cast<int>(made_.size())))]; }
  int dim() { return below(6) - 3; }
  Dims dims() { return below(3) == 0 ? Dims{} : below(2) == 0 ? Dims{dim()} : Dims{dim(), dim()}; }
  DType dtype() {
    constexpr DType kTypes[] = {DType::Fp32,    DType::Fp32, DType::Fp16, DType::Bf16,
                                DType::Fp64,    DType::Bool, DType::Int8, DType::Int64,
                                DType::Fp8e4m3, DType::Uint8};
    return kTypes[below(10)];
  }
  Dim extent() {
    constexpr int64_t kValues[] = {1, 2, 3, 4, 6, 0};
    const int which = below(8);
    if (which == 6) return Dim::symbol("B", 4);
    return which == 7 ? Dim::symbol("D", 6) : Dim(kValues[which]);
  }
  Shape shape() {
    Shape result(static_cast<size_t>(below(4)));
    for (Dim& one : result) one = extent();
    return result;
  }
  Operand operand() {
    switch (below(6)) {
      case 0:
        return Operand::of(0.5);
      case 1:
        return Operand::of(extent());
      case 2:
        return Operand::of_bool(true);
      default:
        return Operand::tensor(pick());
    }
  }
  NodeId index() { return b_.iota(shape_or_vector(), 0, DType::Int64); }
  Shape shape_or_vector() { return below(2) == 0 ? Shape{extent()} : Shape{extent(), extent()}; }

  void keep(Result<NodeId> result) {
    if (result) made_.push_back(*result);
    ++(result ? accepted_ : refused_);
  }
  void keep(Result<ValueIndex> result) {
    if (!result) return keep(Result<NodeId>(result.error()));
    keep(Result<NodeId>(result->value));
    keep(Result<NodeId>(result->index));
  }
  void keep(Result<std::vector<NodeId>> result) {
    if (!result) return keep(Result<NodeId>(result.error()));
    for (NodeId id : *result) keep(Result<NodeId>(id));
  }

  void step() {
    switch (below(5)) {
      case 0:
        return primitive();
      case 1:
        return reduction();
      case 2:
        return movement();
      case 3:
        return joining();
      default:
        return indexing();
    }
  }

  void primitive() {
    const Op op = static_cast<Op>(below(kOps));
    const NodeId x = pick();
    if (op_info(op).kind == OpKind::Reduction) return keep(b_.reduce(op, x, dims(), below(2) == 0));
    if (op_info(op).kind == OpKind::Scan) return keep(b_.scan(op, x, dim(), below(2) == 0));
    if (op == Op::Cast) return keep(Result<NodeId>(b_.cast(x, dtype())));
    if (op_info(op).kind != OpKind::Pointwise) return keep(b_.matmul(x, pick()));
    if (op_info(op).inputs == 1) return keep(b_.unary(op, x));
    if (op_info(op).inputs == 2) return keep(b_.binary(op, operand(), operand()));
    keep(b_.where(x, operand(), operand()));
  }

  void reduction() {
    const NodeId x = pick();
    const bool kept = below(2) == 0;
    const std::function<void()> choices[] = {
        [&] { keep(mean(b_, x, dims(), kept)); },
        [&] { keep(var(b_, x, dims(), below(3), kept)); },
        [&] { keep(vector_norm(b_, x, below(4), dims(), kept)); },
        [&] { keep(logsumexp(b_, x, dims(), kept)); },
        [&] { keep(any(b_, x, dims(), kept)); },
        [&] { keep(argmax(b_, x, dim(), kept)); },
        [&] { keep(max_along(b_, x, dim(), kept)); },
        [&] { keep(softmax(b_, x, dim())); },
        [&] { keep(log_softmax(b_, x, dim(), DType::Fp32)); },
        [&] { keep(layer_norm(b_, x, shape(), {}, {}, 1e-5)); },
        [&] { keep(group_norm(b_, x, below(4), {}, {}, 1e-5)); },
        [&] {
          keep(batch_norm(b_, x, {{}, {}, {}, {}, true, 1e-5}));
        },
        [&] { keep(sort(b_, x, dim(), kept)); },
        [&] { keep(topk(b_, x, extent(), dim(), kept)); },
        [&] { keep(kthvalue(b_, x, extent(), dim(), kept)); },
        [&] { keep(median(b_, x, dim(), kept)); },
        [&] { keep(logcumsumexp(b_, x, dim())); },
        [&] { keep(cummax(b_, x, dim())); },
        [&] { keep(cosine_similarity(b_, x, pick(), dim(), 1e-8)); },
        [&] { keep(linear(b_, x, pick(), below(2) == 0 ? MaybeNode{pick()} : MaybeNode{})); },
        [&] {
          keep(addmm(b_, x, pick(), pick(), {operand(), operand()}));
        },
    };
    choices[below(std::size(choices))]();
  }

  void movement() {
    const NodeId x = pick();
    const std::function<void()> choices[] = {
        [&] { keep(b_.reshape(x, below(2) == 0 ? Shape{-1} : shape())); },
        [&] {
          keep(b_.reshape(x, {extent(), -1}));
        },
        [&] {
          keep(b_.permute(x, {1, 0, 2}));
        },
        [&] { keep(b_.expand(x, shape())); },
        [&] { keep(transpose(b_, x, dim(), dim())); },
        [&] { keep(movedim(b_, x, {dim()}, {dim()})); },
        [&] { keep(squeeze(b_, x, dims())); },
        [&] { keep(unsqueeze(b_, x, dim())); },
        [&] { keep(flatten(b_, x, dim(), dim())); },
        [&] {
          keep(unflatten(b_, x, dim(), {extent(), -1}));
        },
        [&] { keep(slice_range(b_, x, dim(), Dim(dim()), extent(), 1 + below(3))); },
        [&] { keep(narrow(b_, x, dim(), dim(), extent())); },
        [&] { keep(select(b_, x, dim(), dim())); },
        [&] { keep(unbind(b_, x, dim())); },
        [&] { keep(split(b_, x, extent(), dim())); },
        [&] { keep(chunk(b_, x, below(4), dim())); },
        [&] { keep(tensor_split(b_, x, below(4), dim())); },
        [&] { keep(flip(b_, x, dims())); },
        [&] { keep(triu(b_, x, dim())); },
        [&] { keep(diagonal(b_, x, dim(), dim(), dim())); },
        [&] { keep(diag_embed(b_, x, dim(), dim(), dim())); },
    };
    choices[below(std::size(choices))]();
  }

  void joining() {
    const NodeId x = pick();
    const std::function<void()> choices[] = {
        [&] {
          keep(cat(b_, {x, pick()}, dim()));
        },
        [&] {
          keep(cat(b_, {x, x, x}, dim()));
        },
        [&] {
          keep(stack(b_, {x, x}, dim()));
        },
        [&] { keep(repeat(b_, x, shape())); },
        [&] { keep(tile(b_, x, shape())); },
        [&] { keep(repeat_interleave(b_, x, extent(), dim())); },
        [&] { keep(roll(b_, x, {dim()}, {dim()})); },
        [&] { keep(roll(b_, x, {extent()}, {})); },
        [&] {
          keep(pad(b_, x, {dim(), dim()}, static_cast<PadMode>(below(4)), 1));
        },
        [&] {
          keep(pad(b_, x, {extent(), 1, 0, extent()}, static_cast<PadMode>(below(4)), 1));
        },
    };
    choices[below(std::size(choices))]();
  }

  void indexing() {
    const NodeId x = pick(), i = below(3) == 0 ? pick() : index();
    const std::function<void()> choices[] = {
        [&] { keep(gather(b_, x, dim(), i)); },
        [&] { keep(take_along_dim(b_, x, i, dim())); },
        [&] { keep(index_select(b_, x, dim(), i)); },
        [&] { keep(embedding(b_, i, x)); },
        [&] { keep(take(b_, x, i)); },
        [&] { keep(kw::graph::index(b_, x, {i})); },
        [&] {
          keep(kw::graph::index(b_, x, {std::nullopt, i, index()}));
        },
        [&] { keep(scatter(b_, x, dim(), i, operand(), static_cast<ScatterMode>(below(5)))); },
        [&] { keep(index_add(b_, x, dim(), i, pick(), operand())); },
        [&] { keep(index_fill(b_, x, dim(), i, operand())); },
        [&] { keep(masked_fill(b_, x, pick(), operand())); },
        [&] { keep(one_hot(b_, i, extent())); },
        [&] { keep(dropout_mask(b_, x, pick(), 0.5)); },
    };
    choices[below(std::size(choices))]();
  }

  std::mt19937 random_;
  Builder b_;
  std::vector<NodeId> made_;
  int accepted_ = 0, refused_ = 0;
};

TEST(RandomPrograms, AreSoundGraphs) {
  int accepted = 0, refused = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    Program program(seed);
    const Graph graph = program.build();
    accepted += program.accepted();
    refused += program.refused();
    const auto ok = verify(graph);
    ASSERT_TRUE(ok) << "seed " << seed << ": " << ok.error().message << "\n" << print(graph);
    const Graph less = simplify(graph);
    const auto still = verify(less);
    ASSERT_TRUE(still) << "seed " << seed << ": " << still.error().message << "\n" << print(graph);
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Node& before = graph[graph.outputs[i].node];
      const Node& after = less[less.outputs[i].node];
      ASSERT_EQ(before.dtype, after.dtype) << "seed " << seed;
      ASSERT_EQ(shape_text(before.shape), shape_text(after.shape)) << "seed " << seed;
    }
    ASSERT_EQ(print(simplify(less)), print(less)) << "seed " << seed;
    const Cost cost = cost_of(graph);
    double inputs = 0;
    for (const NamedNode& input : graph.inputs) {
      const Node& node = graph[input.node];
      inputs += static_cast<double>(count_of(node.shape).value()) * tensor::dtype_size(node.dtype);
    }
    ASSERT_LE(cost.read_bytes, inputs) << "seed " << seed << "\n" << print(less);
    ASSERT_LE(cost.gathered_bytes, cost.read_bytes) << "seed " << seed;
    ASSERT_GE(cost.flops, cost.tensor_flops) << "seed " << seed;
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_GT(refused, 3000);
}

}  // namespace kw::graph
