// Convolutions, pools, folds and attention give the interpreter's truth in their first design, with
// KW_CODEGEN_ALL=1 in every one.
#include <gtest/gtest.h>

#include "harness.h"
#include "os/files.h"
#include "window_graphs.h"

namespace kw::codegen_tests {
namespace {

/// All of them, made once.
const std::vector<WindowCase>& cases() {
  static const std::vector<WindowCase> kCases = window_cases();
  return kCases;
}

task::Dims dims_of(const graph::Graph& graph) {
  task::Dims dims;
  for (const graph::NamedNode& input : graph.inputs) {
    for (const graph::Dim& dim : graph[input.node].shape) {
      if (!dim.is_constant()) dims[dim.text()] = dim.value();
    }
  }
  return dims;
}

class Windows : public testing::TestWithParam<size_t> {};

TEST_P(Windows, GiveTheTruth) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  const WindowCase& one = cases()[GetParam()];
  const std::string only = os::env("KW_CODEGEN_ONLY");
  if (!only.empty() && one.name.find(only) == std::string::npos) GTEST_SKIP() << "not asked for";
  task::Task task = task_of(one.graph);
  const task::Dims dims = dims_of(one.graph);
  for (const auto& [name, value] : dims) task.dims[name] = {};
  task.benchmark_shapes = task.correctness_shapes = {dims};
  const auto designs = generate::designs(task, harness.options());
  ASSERT_TRUE(designs) << designs.error().message;
  const auto inputs = inputs_for(one.graph, 11);
  for (const generate::Design& design : *designs) {
    const auto text = generate::generate(task, design, harness.options());
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(harness.judge(*text, one.graph, inputs, dims), "")
        << generate::design_text(design) << "\n"
        << graph::print(one.graph) << *text;
    if (os::env("KW_CODEGEN_ALL").empty()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Windows, testing::Range<size_t>(0, cases().size()),
                         [](const auto& one) { return cases()[one.param].name; });

}  // namespace
}  // namespace kw::codegen_tests
