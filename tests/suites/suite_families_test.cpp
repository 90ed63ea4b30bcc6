// The families of inputs over the carried suites: an unfused evaluation in the declared precision
// is an honest kernel and must pass with each, and `magnitudes` must not overflow. A sample of the
// tasks, or all of them with KW_SUITES_ALL=1.
#include <gtest/gtest.h>

#include <cmath>

#include "carried.h"
#include "gate/run_cell.h"
#include "inputs/families.h"
#include "metric/metric.h"
#include "os/files.h"
#include "shapes/shapes.h"
#include "task_formats/load.h"
#include "truth/interpreter.h"

namespace kw::suites_tests {
namespace {

constexpr double kWork = 2e5;
constexpr size_t kSampled = 17, kShapes = 2;
constexpr double kMostOverflow = 0.01;

constexpr const char* kDrawn[] = {"ties",       "mixed_zeros",    "constants", "extremes",
                                  "magnitudes", "scaled_weights", "mix",       "structured"};

double overflowed(const ports::Truth& truth) {
  double count = 0;
  for (const uint8_t may : truth.may_overflow) count += may != 0 ? 1 : 0;
  return truth.value.empty() ? 0 : count / static_cast<double>(truth.value.size());
}

void expect_honest(const task::Task& task, const shapes::ShapeCase& shape,
                   const std::string& family, uint64_t seed) {
  SCOPED_TRACE(task.name + " " + task::dims_text(shape.dims) + " " + family);
  const auto inputs = inputs::draw_inputs(task, shape.graph, shape.dims, family, seed);
  ASSERT_TRUE(inputs) << inputs.error().message;
  truth::Interpreter oracle;
  ports::TruthOptions how;
  how.allow_tf32 = task.precision.allow_tf32;
  how.flush = task.precision.flush;
  const auto truths = oracle.truth(shape.graph, *inputs, how);
  ASSERT_TRUE(truths) << truths.error().message;
  const auto got = oracle.op_by_op(shape.graph, *inputs, how);
  ASSERT_TRUE(got) << got.error().message;
  for (size_t i = 0; i < truths->size(); ++i) {
    metric::CompareOptions options;
    options.precision = task.precision;
    options.moves_only = gate::moves_only(shape.graph, shape.graph.outputs[i].node);
    const metric::Comparison judged = metric::compare((*truths)[i], (*got)[i], options);
    EXPECT_TRUE(judged.pass) << judged.reason;
    if (family == "magnitudes") {
      EXPECT_LE(overflowed((*truths)[i]), kMostOverflow);
    }
    if (os::env("KW_SUITES_ALL").empty()) continue;
    for (const std::string& lint : judged.lint)
      std::printf("lint: %s %s: %s\n", task.name.c_str(), family.c_str(), lint.c_str());
  }
}

class SuiteFamilies : public testing::TestWithParam<std::string> {};

TEST_P(SuiteFamilies, AcceptAnHonestEvaluation) {
  const Carried suite(GetParam());
  const size_t step = os::env("KW_SUITES_ALL").empty() ? kSampled : 1;
  shapes::ShapeLimits limits = shapes::virtual_limits();
  limits.work = limits.large_work = kWork;
  for (size_t i = step / 2; i < suite.tasks().size(); i += step) {
    const auto task = task_formats::load_task(suite.tasks()[i].path);
    ASSERT_TRUE(task) << task.error().message;
    auto plan = shapes::plan_shapes(*task, limits);
    ASSERT_TRUE(plan) << plan.error().message;
    std::ranges::stable_sort(plan->cases, {}, &shapes::ShapeCase::work);
    const size_t middle = plan->cases.size() / 2;
    for (size_t at = middle; at < std::min(middle + kShapes, plan->cases.size()); ++at) {
      for (const char* family : kDrawn) expect_honest(*task, plan->cases[at], family, 10 * i + at);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Carried, SuiteFamilies, testing::ValuesIn(suite_names()),
                         [](const testing::TestParamInfo<std::string>& row) { return row.param; });

}  // namespace
}  // namespace kw::suites_tests
