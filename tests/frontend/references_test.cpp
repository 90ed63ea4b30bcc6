#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cases.h"
#include "core/golden.h"
#include "core/text.h"
#include "graph/graph.h"
#include "os/files.h"
#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

std::string read(const std::string& path) {
  const auto text = os::read_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

const char* structure_name(task::Structure structure) {
  if (structure == task::Structure::Upper) return " upper";
  if (structure == task::Structure::Lower) return " lower";
  return structure == task::Structure::Symmetric ? " symmetric" : "";
}

std::string legal_text(const task::Legal& legal) {
  std::string text;
  if (legal.low) text += fmt::format(" >= {}", *legal.low);
  if (legal.high) text += fmt::format(" <= {}", *legal.high);
  if (!legal.below.empty()) text += fmt::format(" < {}", legal.below);
  if (legal.float_low) text += fmt::format(" >= {}", *legal.float_low);
  if (legal.float_high) text += fmt::format(" <= {}", *legal.float_high);
  if (legal.positive) text += " positive";
  return text + structure_name(legal.structure);
}

/// One line per input and output, and the shapes.
std::string summary(const task::Task& task, const graph::Graph& graph) {
  std::string text = fmt::format("{} ({})\n", task.name, task.format);
  for (const task::TensorSpec& spec : task.inputs)
    text += fmt::format("{} {}: {}[{}]{}\n", spec.role == task::Role::Weight ? "weight" : "input",
                        spec.name, tensor::dtype_name(spec.dtype), join(spec.shape, ", "),
                        legal_text(spec.legal));
  for (const task::ScalarSpec& spec : task.scalars)
    text +=
        fmt::format("scalar {} = {}\n", spec.name,
                    tensor::is_float(spec.dtype) ? spec.number : static_cast<double>(spec.integer));
  for (const graph::NamedNode& output : graph.outputs)
    text +=
        fmt::format("output {}: {}{}\n", output.name, tensor::dtype_name(graph[output.node].dtype),
                    graph::shape_text(graph[output.node].shape));
  text += fmt::format("correct at {}\nfast at {}\n", task::dims_text(task.correctness_shapes[0]),
                      task::dims_text(task.benchmark_shapes[0]));
  for (const auto& [name, range] : task.dims) {
    if (range.multiple > 1) text += fmt::format("{}: multiples of {}\n", name, range.multiple);
  }
  for (const std::string& guard : graph.guards) text += fmt::format("guard {}\n", guard);
  return text;
}

class Case : public testing::TestWithParam<std::string> {};
std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }

using Models = Case;
TEST_P(Models, LoadsAndTracesAtOtherShapes) {
  const std::string path = case_path("kernelbench", GetParam() + ".py");
  const auto task = load_task(path);
  ASSERT_TRUE(task) << task.error().message;
  for (const task::Dims& dims : {task->benchmark_shapes[0], task->correctness_shapes[0]}) {
    const auto graph = task->reference->trace(dims);
    ASSERT_TRUE(graph) << graph.error().message;
    const auto sound = graph::verify(*graph);
    EXPECT_TRUE(sound) << sound.error().message;
    ASSERT_EQ(graph->inputs.size(), task->inputs.size());
    for (size_t i = 0; i < graph->inputs.size(); ++i) {
      EXPECT_EQ(graph->inputs[i].name, task->inputs[i].name);
      const auto shape = task->shape_of(task->inputs[i], dims);
      ASSERT_TRUE(shape) << shape.error().message;
      EXPECT_EQ(*shape, graph::values_of((*graph)[graph->inputs[i].node].shape));
    }
  }
  const auto graph = task->reference->trace(task->benchmark_shapes[0]);
  expect_golden(case_path("kernelbench", GetParam() + ".summary"), summary(*task, *graph));
}
INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(cases_in("kernelbench")), name_of);

using Graphs = Case;
TEST_P(Graphs, Print) {
  const std::string path = case_path("graphs", GetParam() + ".py");
  const auto task = load_task(path, options_of(read(path)));
  ASSERT_TRUE(task) << task.error().message;
  const auto graph = task->reference->trace(task->benchmark_shapes[0]);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto sound = graph::verify(*graph);
  EXPECT_TRUE(sound) << sound.error().message;
  expect_golden(case_path("graphs", GetParam() + ".graph"), graph::print(graph::simplify(*graph)));
}
INSTANTIATE_TEST_SUITE_P(All, Graphs, testing::ValuesIn(cases_in("graphs")), name_of);

using Refused = Case;
TEST_P(Refused, SaysWhy) {
  const std::string path = case_path("reject", GetParam() + ".py");
  const auto task = load_task(path, options_of(read(path)));
  ASSERT_FALSE(task) << "was accepted";
  EXPECT_EQ(task.error().blame, Blame::Input);
  expect_golden(case_path("reject", GetParam() + ".expected"), task.error().message + "\n");
}
INSTANTIATE_TEST_SUITE_P(All, Refused, testing::ValuesIn(cases_in("reject")), name_of);

}  // namespace
}  // namespace kw::task_formats
