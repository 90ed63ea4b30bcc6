// Every reference of this folder, evaluated by PyTorch and by our own graph: the two must mean the
// same. The exported graph must be readable, too. Needs a Python with torch; skipped without.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "cases.h"
#include "frontend/aten.h"
#include "frontend/backward.h"
#include "graph/graph.h"
#include "inputs/families.h"
#include "os/files.h"
#include "task_formats/load.h"
#include "torch_worker/test_torch.h"
#include "torch_worker/torch_export.h"
#include "truth/interpreter.h"
#include "verification/cross_check.h"
#include "verification/torch_reference.h"

namespace kw::task_formats {
namespace {

torch_worker::TorchProcess* process() { return torch_worker::shared_torch().get(); }

struct Prepared {
  task::Task task;
  task::Dims dims;
  graph::Graph graph;
  std::vector<tensor::HostTensor> inputs;
};

Prepared prepare(const std::string& path) {
  Prepared prepared;
  auto task = load_task(path, options_of(*os::read_file(path)));
  EXPECT_TRUE(task) << task.error().message;
  if (!task) return prepared;
  prepared.task = std::move(task).value();
  prepared.dims = prepared.task.correctness_shapes.at(0);
  prepared.graph = prepared.task.reference->trace(prepared.dims).value();
  auto inputs = inputs::draw_inputs(prepared.task, prepared.graph, prepared.dims, "normal", 1);
  EXPECT_TRUE(inputs) << inputs.error().message;
  if (inputs) prepared.inputs = std::move(inputs).value();
  return prepared;
}

std::vector<std::string> all_cases() {
  std::vector<std::string> all;
  for (const std::string folder : {"agree", "kernelbench"})
    for (const std::string& name : cases_in(folder)) all.push_back(folder + "/" + name);
  return all;
}

/// An export takes PyTorch half a second, and the op table covers what is in it; KW_TORCH_ALL=1:
/// all of them.
std::vector<std::string> some_cases() {
  std::vector<std::string> all = all_cases();
  if (std::getenv("KW_TORCH_ALL") != nullptr) return all;
  std::vector<std::string> some;
  for (size_t i = 0; i < all.size(); i += 24) some.push_back(all[i]);
  return some;
}

std::string test_name(const testing::TestParamInfo<std::string>& one) {
  std::string name = one.param;
  for (char& c : name)
    if (c == '/') c = '_';
  return name;
}

/// What we read ourselves and cannot take from an export, and what is said then.
const std::map<std::string, std::string> kRefused = {
    {"agree/masked_update", "a mask as index"},
    {"agree/bags_by_offsets", "padding_idx is not supported"},
    {"agree/sampling", "grid_sampler_2d"}};

class TorchAgrees : public testing::TestWithParam<std::string> {};
class TorchExports : public TorchAgrees {};

TEST_P(TorchAgrees, OnEveryOutput) {
  if (process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  const Prepared prepared = prepare(case_path("", GetParam() + ".py"));
  ASSERT_FALSE(testing::Test::HasFailure());
  truth::Interpreter interpreter;
  const auto checked = verification::cross_check_task(prepared.task, prepared.dims, prepared.inputs,
                                                      interpreter, *process());
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->outcome.kind, torch_worker::TorchKind::Ok)
      << torch_worker::outcome_text(checked->outcome) << "\n"
      << checked->outcome.traceback;
  for (const torch_worker::Mismatch& mismatch : checked->mismatches)
    ADD_FAILURE() << torch_worker::mismatch_text(mismatch);
}

/// A result that is an argument written in place stands twice in an export: as a result, and as the
/// argument behind all results. Our reader names it once, where it is returned.
std::vector<graph::NamedNode> without_returned_arguments(const graph::Graph& graph) {
  std::vector<graph::NamedNode> kept;
  for (const graph::NamedNode& output : graph.outputs) {
    const auto same = [&](const graph::NamedNode& one) { return one.node == output.node; };
    const bool argument = std::ranges::any_of(
        graph.inputs, [&](const graph::NamedNode& one) { return one.name == output.name; });
    if (!argument || std::ranges::none_of(kept, same)) kept.push_back(output);
  }
  return kept;
}

TEST_P(TorchExports, TheSameGraph) {
  if (process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  const Prepared prepared = prepare(case_path("", GetParam() + ".py"));
  ASSERT_FALSE(testing::Test::HasFailure());
  const auto call =
      verification::torch_call(prepared.task, prepared.dims, prepared.graph, prepared.inputs);
  ASSERT_TRUE(call) << call.error().message;
  const auto answer = torch_worker::export_graph(*process(), *call, {}, 120);
  if (answer.outcome.kind == torch_worker::TorchKind::Unsupported)
    GTEST_SKIP() << torch_worker::outcome_text(answer.outcome);
  ASSERT_EQ(answer.outcome.kind, torch_worker::TorchKind::Ok)
      << torch_worker::outcome_text(answer.outcome);
  frontend::Exported exported;
  exported.name = "exported";
  exported.graph = answer.body["graph"];
  for (const torch_worker::TorchTensor& constant : answer.outputs)
    exported.constants[constant.name] = constant.tensor;
  const auto task = frontend::task_from_export(std::move(exported));
  if (const auto refused = kRefused.find(GetParam()); refused != kRefused.end()) {
    ASSERT_FALSE(task) << "is read now";
    EXPECT_NE(task.error().message.find(refused->second), std::string::npos)
        << task.error().message;
    return;
  }
  ASSERT_TRUE(task) << task.error().message;
  const auto graph = task->reference->trace({});
  ASSERT_TRUE(graph) << graph.error().message;
  const auto sound = graph::verify(*graph);
  EXPECT_TRUE(sound) << sound.error().message;
  const std::vector<graph::NamedNode> outputs = without_returned_arguments(*graph);
  ASSERT_EQ(outputs.size(), prepared.graph.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const graph::Node& ours = prepared.graph[prepared.graph.outputs[i].node];
    const graph::Node& theirs = (*graph)[outputs[i].node];
    EXPECT_EQ(ours.dtype, theirs.dtype);
    EXPECT_EQ(graph::values_of(ours.shape), graph::values_of(theirs.shape));
  }
}

class TorchAgreesBackward : public testing::TestWithParam<std::string> {};

TEST_P(TorchAgreesBackward, OnEveryGradient) {
  if (process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  const auto forward = load_task(case_path("", GetParam() + ".py"));
  ASSERT_TRUE(forward) << forward.error().message;
  const auto task = frontend::backward_task(*forward);
  ASSERT_TRUE(task) << task.error().message;
  truth::Interpreter interpreter;
  const auto report =
      verification::cross_check_reference(*task, {verification::CrossCheckMode::Always, "test", ""},
                                          verification::cross_check_torch(interpreter, *process()));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->state, verification::CrossCheckState::Agrees) << report->text();
}

/// What autograd does in a way of its own, and what it is told of gradients.
std::vector<std::string> backward_cases() {
  std::vector<std::string> all = {"agree/tied_weights", "agree/module_containers"};
  for (const std::string& name : cases_in("agree_backward"))
    all.push_back("agree_backward/" + name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, TorchAgreesBackward, testing::ValuesIn(backward_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(All, TorchAgrees, testing::ValuesIn(all_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(All, TorchExports, testing::ValuesIn(some_cases()), test_name);

}  // namespace
}  // namespace kw::task_formats
