// Transposed convolutions and inputs' gradients, a phase of the stride per block, give the
// interpreter's truth: every number of taps and columns that a phase may have, and none.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/check.h"
#include "graph/builder.h"
#include "graph/compose_conv.h"
#include "graph/derive.h"
#include "harness.h"
#include "window_graphs.h"

namespace kw::codegen_tests {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

constexpr const char *kPlain = "matmul_phases", *kTensor = "matmul_wmma_phases";

enum class What : uint8_t { Transposed, Gradient };

/// One spatial dim.
struct Stretch {
  int64_t size, kernel, stride, pad = 0, more = 0, dilation = 1;
};

struct PhaseCase {
  const char* name;
  const char* schedule;  // nullptr: none with phases
  DType dtype;
  int64_t channels, results, groups;
  std::vector<Stretch> along;
  What what = What::Transposed;
  bool bias = false, symbolic = false;
};

const PhaseCase kPhaseCases[] = {
    {"odd", kPlain, DType::Fp32, 6, 10, 1, {{5, 3, 2, 1}, {6, 3, 2, 1}}},
    {"output_padding", kPlain, DType::Fp32, 6, 10, 1, {{5, 3, 2, 1, 1}, {6, 5, 3, 0, 2}}},
    {"even_padded", kPlain, DType::Fp32, 9, 40, 1, {{5, 4, 2, 1}, {6, 4, 2, 1}}},
    {"one_tap", kPlain, DType::Fp32, 6, 10, 1, {{5, 1, 2}, {6, 1, 2}}},
    {"one_tap_far", kPlain, DType::Fp32, 6, 10, 1, {{5, 1, 3, 0, 2}, {6, 2, 4, 0, 1}}},
    {"one_dim", kPlain, DType::Fp32, 7, 5, 1, {{9, 5, 3, 2}}, What::Transposed, true},
    {"three_dims", kPlain, DType::Fp32, 3, 4, 1, {{3, 3, 2, 1}, {4, 2, 2, 1}, {3, 3, 1, 1}}},
    {"groups", kPlain, DType::Fp32, 8, 12, 2, {{5, 3, 2, 1}, {4, 3, 2}}, What::Transposed, true},
    {"one_dim_strided", kPlain, DType::Fp32, 6, 8, 1, {{5, 3, 1, 1}, {6, 3, 2, 1}}},
    {"dilated_beside", kPlain, DType::Fp32, 6, 8, 1, {{5, 3, 1, 1, 0, 2}, {6, 3, 2, 1}}},
    {"dilated", nullptr, DType::Fp32, 6, 8, 1, {{5, 3, 2, 1, 0, 3}, {6, 3, 2, 1}}},
    {"double", kPlain, DType::Fp64, 6, 8, 1, {{4, 3, 2, 1}, {5, 3, 2, 1}}},
    {"images",
     kPlain,
     DType::Fp32,
     6,
     8,
     1,
     {{4, 3, 2, 1}, {5, 3, 2, 1}},
     What::Transposed,
     true,
     true},
    {"half",
     kTensor,
     DType::Fp16,
     20,
     70,
     1,
     {{5, 3, 2, 1}, {6, 3, 2, 1, 1}},
     What::Transposed,
     true},
    {"half_one_tap", kTensor, DType::Bf16, 40, 24, 1, {{5, 1, 2}, {6, 1, 2}}},
    {"half_groups", kTensor, DType::Fp16, 16, 24, 2, {{5, 3, 2, 1}, {6, 3, 2, 1}}},
    {"gradient", kPlain, DType::Fp32, 6, 10, 1, {{9, 3, 2, 1}, {10, 3, 2, 1}}, What::Gradient},
    {"gradient_groups",
     kPlain,
     DType::Fp32,
     8,
     12,
     2,
     {{9, 3, 2, 1}, {8, 5, 2, 2}},
     What::Gradient},
    {"gradient_half",
     kTensor,
     DType::Fp16,
     6,
     10,
     1,
     {{9, 3, 2, 1}, {10, 3, 2, 1}},
     What::Gradient},
};

NodeId sure_of(Result<NodeId> node) {
  KW_CHECK(node.has_value(), node ? "" : node.error().message);
  return *node;
}

graph::Graph graph_of(const PhaseCase& one) {
  graph::Builder b;
  const bool back = one.what == What::Gradient;
  graph::Shape image = {one.symbolic ? Dim::symbol("N", 3) : Dim(2), Dim(one.channels)};
  graph::Shape kernel = {Dim(back ? one.results : one.channels),
                         Dim((back ? one.channels : one.results) / one.groups)};
  graph::Conv conv;
  graph::ConvTranspose transposed;
  for (const Stretch& dim : one.along) {
    image.emplace_back(dim.size);
    kernel.emplace_back(dim.kernel);
    conv.stride.push_back(dim.stride);
    conv.dilation.push_back(dim.dilation);
    conv.before.emplace_back(dim.pad);
    conv.after.emplace_back(dim.pad);
    transposed.padding.push_back(dim.pad);
    transposed.output_padding.push_back(dim.more);
  }
  transposed.stride = conv.stride;
  transposed.dilation = conv.dilation;
  transposed.groups = conv.groups = Dim(one.groups);
  const NodeId x = b.input("x", one.dtype, image), w = b.input("w", one.dtype, kernel);
  std::optional<NodeId> bias;
  if (one.bias) bias = b.input("bias", one.dtype, {Dim(one.results)});
  const NodeId y = sure_of(back ? graph::conv(b, x, w, bias, conv)
                                : graph::conv_transpose(b, x, w, bias, transposed));
  graph::Graph graph = std::move(b).finish({{"y", y}});
  if (!back) return graph;
  Result<graph::Graph> gradients = graph::backward(graph);
  KW_CHECK(gradients.has_value(), gradients ? "" : gradients.error().message);
  return std::move(*gradients);
}

bool has_schedule(const generate::Design& design, const std::string& name) {
  return std::any_of(design.choices.begin(), design.choices.end(), [&](const auto& choice) {
    return choice.schedule.find(name) != std::string::npos;
  });
}

class PhasedProducts : public testing::TestWithParam<PhaseCase> {};

TEST_P(PhasedProducts, GiveTheTruth) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  const graph::Graph graph = graph_of(GetParam());
  task::Task task = task_of(graph);
  task::Dims dims;
  if (GetParam().symbolic) {
    dims["N"] = 3;
    task.dims["N"] = {};
    task.benchmark_shapes = task.correctness_shapes = {dims};
  }
  const auto designs = generate::designs(task, harness.options());
  ASSERT_TRUE(designs) << designs.error().message;
  const char* schedule = GetParam().schedule;
  const auto design = std::find_if(designs->begin(), designs->end(), [&](const auto& one) {
    return has_schedule(one, schedule == nullptr ? "phases" : schedule);
  });
  ASSERT_EQ(design != designs->end(), schedule != nullptr);
  if (schedule == nullptr) return;
  const auto text = generate::generate(task, *design, harness.options());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(harness.judge(*text, graph, inputs_for(graph, 7), dims), "")
      << generate::design_text(*design) << "\n"
      << *text;
}

INSTANTIATE_TEST_SUITE_P(All, PhasedProducts, testing::ValuesIn(kPhaseCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace kw::codegen_tests
