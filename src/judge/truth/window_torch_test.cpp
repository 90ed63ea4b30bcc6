// Convolutions and pools: compares our truth with PyTorch in fp64, and PyTorch in fp32 with our
// bound.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/compose_conv.h"
#include "graph/compose_pool.h"
#include "ports/bound.h"
#include "tensor/inputs.h"
#include "torch_worker/test_torch.h"
#include "truth/test_graph.h"

namespace kw::truth {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::HostTensor;
using Extent = std::vector<int64_t>;

struct SlidingRow {
  const char* name;
  Extent x, w;             // w is empty for pools
  const char* expression;  // PyTorch code with x and w
  std::function<Result<NodeId>(graph::Builder&, NodeId, NodeId)> build;
};
std::ostream& operator<<(std::ostream& out, const SlidingRow& row) { return out << row.name; }

std::vector<graph::Dim> dims(const Extent& extents) { return {extents.begin(), extents.end()}; }

SlidingRow conv_row(const char* name, Extent x, Extent w, const char* expression, Extent stride,
                    Extent before, Extent after, Extent dilation, int64_t groups = 1) {
  const graph::Conv how{stride, dilation, dims(before), dims(after), groups};
  return {name, std::move(x), std::move(w), expression,
          [how](graph::Builder& b, NodeId in, NodeId weight) {
            return graph::conv(b, in, weight, std::nullopt, how);
          }};
}
SlidingRow turned_row(const char* name, Extent x, Extent w, const char* expression, Extent stride,
                      Extent padding, Extent more, Extent dilation, int64_t groups = 1) {
  const graph::ConvTranspose how{stride, dilation, padding, more, groups};
  return {name, std::move(x), std::move(w), expression,
          [how](graph::Builder& b, NodeId in, NodeId weight) {
            return graph::conv_transpose(b, in, weight, std::nullopt, how);
          }};
}
SlidingRow pool_row(const char* name, Extent x, const char* expression, bool largest, Extent kernel,
                    Extent stride, Extent padding, Extent dilation, bool ceil = false) {
  const graph::Pool how{kernel, stride, padding, dilation, ceil};
  return {name, std::move(x), {}, expression, [how, largest](graph::Builder& b, NodeId in, NodeId) {
            return largest ? graph::max_pool(b, in, how) : graph::avg_pool(b, in, how, {});
          }};
}

std::vector<SlidingRow> sliding_rows() {
  return {
      conv_row("Plain", {2, 3, 9, 11}, {4, 3, 3, 3}, "F.conv2d(x, w)", {1, 1}, {0, 0}, {0, 0},
               {1, 1}),
      conv_row("Same", {2, 3, 9, 11}, {4, 3, 3, 3}, "F.conv2d(x, w, padding=1)", {1, 1}, {1, 1},
               {1, 1}, {1, 1}),
      conv_row("Strided", {2, 3, 12, 12}, {5, 3, 3, 3}, "F.conv2d(x, w, stride=2, padding=1)",
               {2, 2}, {1, 1}, {1, 1}, {1, 1}),
      conv_row("Uneven", {1, 2, 10, 13}, {3, 2, 5, 2},
               "F.conv2d(x, w, stride=(3, 1), padding=(2, 0), dilation=(1, 3))", {3, 1}, {2, 0},
               {2, 0}, {1, 3}),
      conv_row("Dilated", {1, 4, 15, 15}, {2, 4, 3, 3}, "F.conv2d(x, w, padding=4, dilation=4)",
               {1, 1}, {4, 4}, {4, 4}, {4, 4}),
      conv_row("OneByOne", {2, 16, 7, 7}, {8, 16, 1, 1}, "F.conv2d(x, w)", {1, 1}, {0, 0}, {0, 0},
               {1, 1}),
      conv_row("OneByOneStrided", {2, 16, 7, 7}, {8, 16, 1, 1}, "F.conv2d(x, w, stride=3)", {3, 3},
               {0, 0}, {0, 0}, {1, 1}),
      conv_row("KernelIsInput", {3, 5, 6, 7}, {2, 5, 6, 7}, "F.conv2d(x, w)", {1, 1}, {0, 0},
               {0, 0}, {1, 1}),
      conv_row("MostlyPadding", {1, 8, 2, 2}, {4, 8, 9, 9}, "F.conv2d(x, w, padding=5)", {1, 1},
               {5, 5}, {5, 5}, {1, 1}),
      conv_row("Depthwise", {2, 6, 9, 9}, {6, 1, 3, 3}, "F.conv2d(x, w, padding=1, groups=6)",
               {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6),
      conv_row("Multiplied", {2, 4, 8, 8}, {12, 1, 3, 3}, "F.conv2d(x, w, stride=2, groups=4)",
               {2, 2}, {0, 0}, {0, 0}, {1, 1}, 4),
      conv_row("Grouped", {2, 6, 9, 9}, {4, 3, 3, 3}, "F.conv2d(x, w, padding=1, groups=2)", {1, 1},
               {1, 1}, {1, 1}, {1, 1}, 2),
      conv_row("Asymmetric", {1, 3, 8, 9}, {2, 3, 3, 4}, "F.conv2d(F.pad(x, (3, 0, 0, 2)), w)",
               {1, 1}, {0, 3}, {2, 0}, {1, 1}),
      conv_row("Unbatched", {3, 9, 9}, {4, 3, 3, 3}, "F.conv2d(x, w, padding=2)", {1, 1}, {2, 2},
               {2, 2}, {1, 1}),
      conv_row("Line", {2, 4, 50}, {6, 4, 7}, "F.conv1d(x, w, stride=2, padding=3)", {2}, {3}, {3},
               {1}),
      conv_row("LineDilated", {2, 4, 50}, {6, 4, 5}, "F.conv1d(x, w, dilation=6)", {1}, {0}, {0},
               {6}),
      conv_row("Space", {1, 3, 5, 6, 7}, {4, 3, 3, 2, 3},
               "F.conv3d(x, w, stride=(1, 2, 1), padding=(1, 0, 1))", {1, 2, 1}, {1, 0, 1},
               {1, 0, 1}, {1, 1, 1}),
      conv_row("Deep", {1, 300, 4, 4}, {3, 300, 3, 3}, "F.conv2d(x, w, padding=1)", {1, 1}, {1, 1},
               {1, 1}, {1, 1}),
      turned_row("Turned", {2, 4, 5, 6}, {4, 3, 3, 3}, "F.conv_transpose2d(x, w)", {1, 1}, {0, 0},
                 {0, 0}, {1, 1}),
      turned_row("TurnedStrided", {2, 4, 5, 6}, {4, 3, 4, 4},
                 "F.conv_transpose2d(x, w, stride=2, padding=1)", {2, 2}, {1, 1}, {0, 0}, {1, 1}),
      turned_row("TurnedApart", {1, 4, 5, 6}, {4, 3, 2, 2}, "F.conv_transpose2d(x, w, stride=3)",
                 {3, 3}, {0, 0}, {0, 0}, {1, 1}),
      turned_row("TurnedMore", {1, 4, 5, 6}, {4, 2, 3, 3},
                 "F.conv_transpose2d(x, w, stride=(2, 3), padding=(1, 2), output_padding=(1, 2), "
                 "dilation=(2, 1), groups=2)",
                 {2, 3}, {1, 2}, {1, 2}, {2, 1}, 2),
      turned_row("TurnedLine", {2, 3, 9}, {3, 5, 4}, "F.conv_transpose1d(x, w, stride=2)", {2}, {0},
                 {0}, {1}),
      pool_row("Largest", {2, 3, 9, 9}, "F.max_pool2d(x, 3, 2)", true, {3, 3}, {2, 2}, {0, 0},
               {1, 1}),
      pool_row("LargestPadded", {2, 3, 8, 9}, "F.max_pool2d(x, 3, 2, padding=1)", true, {3, 3},
               {2, 2}, {1, 1}, {1, 1}),
      pool_row("LargestDilated", {1, 3, 11, 11}, "F.max_pool2d(x, 3, 2, dilation=2)", true, {3, 3},
               {2, 2}, {0, 0}, {2, 2}),
      pool_row("LargestCeiled", {1, 3, 10, 9}, "F.max_pool2d(x, 3, 2, ceil_mode=True)", true,
               {3, 3}, {2, 2}, {0, 0}, {1, 1}, true),
      pool_row("Mean", {2, 3, 9, 8}, "F.avg_pool2d(x, 2)", false, {2, 2}, {2, 2}, {0, 0}, {1, 1}),
      pool_row("MeanOverlapping", {2, 3, 9, 8}, "F.avg_pool2d(x, 5, 1, padding=2)", false, {5, 5},
               {1, 1}, {2, 2}, {1, 1}),
      pool_row("MeanLine", {2, 3, 40}, "F.avg_pool1d(x, 4, 3)", false, {4}, {3}, {0}, {1}),
      pool_row("LargestSpace", {1, 2, 6, 7, 8}, "F.max_pool3d(x, 2)", true, {2, 2, 2}, {2, 2, 2},
               {0, 0, 0}, {1, 1, 1}),
  };
}

torch_worker::TorchProcess* torch_process() { return torch_worker::shared_torch().get(); }

class Sliding : public testing::TestWithParam<SlidingRow> {
 protected:
  void SetUp() override {
    if (torch_process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  }
};

TEST_P(Sliding, IsWhatPyTorchComputes) {
  const SlidingRow& row = GetParam();
  TestGraph g;
  const HostTensor x = *tensor::make_input(DType::Fp32, row.x, tensor::Family::Normal, 1);
  const HostTensor w = *tensor::make_input(DType::Fp32, row.w.empty() ? Extent{1} : row.w,
                                           tensor::Family::Normal, 2);
  const NodeId in = g.input(x), weight = g.input(w);
  const ports::Truth truth = g.truth(g.got(row.build(g.builder, in, weight)));
  torch_worker::TorchCall call;
  call.source.path = "/nowhere/sliding.py";
  call.source.text = fmt::format(
      "import torch.nn.functional as F\n\ndef op(x, w):\n    return {}\n\n"
      "def both(x, w):\n    return op(x.double(), w.double()), op(x, w)\n",
      row.expression);
  call.source.entry = "both";
  call.arguments = {{"x", &x, {}}, {"w", &w, {}}};
  const torch_worker::TorchAnswer answer = torch_process()->run(call, 120);
  ASSERT_TRUE(answer.ok()) << torch_worker::outcome_text(answer.outcome);
  const HostTensor &wide = answer.outputs[0].tensor, &narrow = answer.outputs[1].tensor;
  ASSERT_EQ(wide.shape, truth.shape);
  for (size_t k = 0; k < truth.value.size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    const double bound = ports::bound_at(truth, at, false);
    // fp64 sums in another order.
    ASSERT_NEAR(truth.value[k], tensor::get_element(wide, at), 1e-7 * bound) << k;
    ASSERT_LE(std::fabs(truth.value[k] - tensor::get_element(narrow, at)), bound) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Sliding, testing::ValuesIn(sliding_rows()),
                         [](const auto& row) { return std::string(row.param.name); });

// Zero terms from padding have no rounding error: the bound is that of the sum without them.
TEST(SlidingBounds, PaddingWidensNone) {
  TestGraph g;
  const HostTensor x = *tensor::make_input(DType::Fp32, {1, 1, 1, 1}, tensor::Family::Normal, 1);
  const HostTensor w = *tensor::make_input(DType::Fp32, {1, 1, 31, 31}, tensor::Family::Normal, 2);
  const NodeId in = g.input(x), weight = g.input(w);
  const graph::Conv how{{1, 1}, {1, 1}, {15, 15}, {15, 15}};
  const ports::Truth truth = g.truth(g.got(graph::conv(g.builder, in, weight, std::nullopt, how)));
  const ports::BoundConstants& c = ports::bound_constants();
  const double want = (c.sum_root + c.sum_plus) * c.unit * std::fabs(truth.value[0]);
  EXPECT_NE(truth.value[0], 0);
  EXPECT_NEAR(truth.a[0], want, 1e-5 * want);
}

}  // namespace
}  // namespace kw::truth
