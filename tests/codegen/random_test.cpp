// Random graphs: whatever they compute, every design of them gives the interpreter's truth, at
// symbolic dims and with awkward extents. KW_CODEGEN_GRAPHS=N draws more of them.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

#include "graph/builder.h"
#include "harness.h"
#include "os/files.h"
#include "tensor/inputs.h"

namespace kw::codegen_tests {
namespace {

using graph::Builder;
using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using graph::OpKind;
using tensor::DType;

constexpr int64_t kRows = 5, kColumns = 72;

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    const DType type = pick({DType::Fp32, DType::Fp16, DType::Bf16});
    for (const DType dtype : {type, type, DType::Int32}) {
      const std::string name = fmt::format("x{}", inputs_.size());
      nodes_.push_back(b_.input(name, dtype, shape()));
      inputs_.push_back(*tensor::make_input(
          dtype, {kRows, kColumns},
          tensor::is_float(dtype) ? tensor::Family::Normal : tensor::Family::Uniform, random_()));
    }
    for (size_t steps = 3 + below(6); steps > 0; --steps) grow();
  }

  graph::Graph finish() {
    return std::move(b_).finish({{"y", nodes_.back()}, {"z", nodes_[nodes_.size() / 2 + 1]}});
  }
  const std::vector<tensor::HostTensor>& inputs() const { return inputs_; }

 private:
  graph::Shape shape() const { return {Dim::symbol("B", kRows), Dim::symbol("D", kColumns)}; }
  size_t below(size_t limit) { return random_() % limit; }
  DType pick(std::initializer_list<DType> types) { return types.begin()[below(types.size())]; }
  NodeId any() { return nodes_[below(nodes_.size())]; }
  NodeId real() {
    const NodeId id = any();
    return tensor::is_float(b_[id].dtype) ? id : b_.cast(id, DType::Fp32);
  }
  void keep(Result<NodeId> made) {
    if (!made) return;
    auto full = b_.expand(*made, shape());
    if (full) nodes_.push_back(*full);
  }

  void grow() {
    constexpr Op kUnary[] = {Op::Neg, Op::Abs, Op::Tanh, Op::Sigmoid, Op::Floor, Op::Sin, Op::Exp2};
    constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Maximum, Op::Minimum};
    constexpr Op kReduce[] = {Op::Sum, Op::Max, Op::Min};
    const int dim = static_cast<int>(below(2));
    switch (below(12)) {
      case 0:
      case 1:
        return keep(b_.unary(kUnary[below(std::size(kUnary))], real()));
      case 2:
      case 3:
        return keep(b_.binary(kBinary[below(std::size(kBinary))], Operand::tensor(real()),
                              Operand::tensor(real())));
      case 4: {
        const auto condition = b_.binary(Op::Lt, Operand::tensor(real()), Operand::of(0.25));
        if (!condition) return;
        return keep(b_.where(*condition, Operand::tensor(any()), Operand::of(1.5)));
      }
      case 5:
      case 6:
        return keep(b_.reduce(kReduce[below(std::size(kReduce))], real(), {dim}, true));
      case 7:
        return keep(b_.scan(below(2) == 0 ? Op::CumSum : Op::CumMax, real(), dim, below(2) == 0));
      case 8:
        return move(dim);
      case 9:
      case 10:
        return slide();
      default:
        return product();
    }
  }

  void move(int dim) {
    const NodeId x = any();
    graph::Attrs attrs;
    switch (below(3)) {
      case 0: {
        attrs.dims = {dim};
        return keep(b_.add({Op::Flip, {x}, b_[x].dtype, {}, attrs, "", 0, 0}));
      }
      case 1: {
        const auto half = b_.slice(x, 1, 1, b_[x].shape[1], 2);
        if (!half) return;
        attrs.dims = {1};
        return keep(b_.add({Op::Concat, {*half, *half}, b_[x].dtype, {}, attrs, "", 0, 0}));
      }
      default: {
        const auto turned = b_.permute(x, {1, 0});
        if (turned) keep(b_.reshape(*turned, shape()));
      }
    }
  }

  /// Windows along the rows, reduced, or folded back to where they came from.
  void slide() {
    constexpr Op kReduce[] = {Op::Sum, Op::Max, Op::Min};
    const NodeId x = real();
    const int64_t size = below(2) == 0 ? 3 : 5, dilation = below(2) == 0 ? 1 : 2;
    const Dim reach(dilation * (size - 1)), half(dilation * (size - 1) / 2);
    graph::Attrs pad, window;
    pad.starts = {Dim(0), half};
    pad.number = below(2) == 0 ? 0 : 1.5;
    window.dims = {1};
    window.steps = {1, dilation};
    const graph::Shape wide = {shape()[0], shape()[1] + reach};
    const DType dtype = b_[x].dtype;
    const auto padded = b_.add({Op::Pad, {x}, dtype, wide, pad, "", 0, 0});
    if (!padded) return;
    const auto windows = b_.add(
        {Op::Window, {*padded}, dtype, {shape()[0], shape()[1], Dim(size)}, window, "", 0, 0});
    if (!windows) return;
    if (below(2) == 0)
      return keep(b_.reduce(kReduce[below(std::size(kReduce))], *windows, {2}, false));
    const auto folded = b_.add({Op::Fold, {*windows}, dtype, wide, window, "", 0, 0});
    if (folded) keep(b_.slice(*folded, 1, half, half + shape()[1]));
  }

  void product() {
    const NodeId x = real(), z = b_.cast(real(), b_[x].dtype);
    const auto turned = b_.permute(z, {1, 0});
    if (!turned) return;
    const auto square = b_.matmul(x, *turned);
    if (square) keep(b_.matmul(*square, z));
  }

  std::mt19937 random_;
  Builder b_;
  std::vector<NodeId> nodes_;
  std::vector<tensor::HostTensor> inputs_;
};

TEST(RandomGraphs, EveryDesignGivesTheTruth) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  const std::string wanted = os::env("KW_CODEGEN_GRAPHS");
  const uint32_t graphs = wanted.empty() ? 8 : static_cast<uint32_t>(std::stoul(wanted));
  for (uint32_t seed = 1; seed <= graphs && !HasFailure(); ++seed) {
    RandomGraph random(seed);
    const std::vector<tensor::HostTensor> inputs = random.inputs();
    const graph::Graph graph = random.finish();
    task::Task task = task_of(graph);
    task.dims = {{"B", {}}, {"D", {}}};
    task.benchmark_shapes = task.correctness_shapes = {{{"B", kRows}, {"D", kColumns}}};
    const auto designs = generate::designs(task, harness.options());
    ASSERT_TRUE(designs) << designs.error().message << "\n" << graph::print(graph);
    for (const generate::Design& design : *designs) {
      const std::string label = fmt::format("seed {}: {}", seed, generate::design_text(design));
      const auto text = generate::generate(task, design, harness.options());
      ASSERT_TRUE(text) << label << ": " << text.error().message;
      const std::string wrong =
          harness.judge(*text, graph, inputs, {{"B", kRows}, {"D", kColumns}});
      ASSERT_EQ(wrong, "") << label << "\n" << graph::print(graph) << *text;
      if (seed % 4 != 0) break;
    }
  }
}

}  // namespace
}  // namespace kw::codegen_tests
