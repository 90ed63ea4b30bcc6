// Which precision a task's products use: the floor depends on it.
#include "timing/timed_shape.h"

#include <gtest/gtest.h>

#include "task_formats/load.h"

namespace kw::timing {
namespace {

struct UnitRow {
  const char* name;
  const char* parameters;
  const char* body;
  const char* unit;
};
std::ostream& operator<<(std::ostream& out, const UnitRow& row) { return out << row.name; }

class ProductUnits : public testing::TestWithParam<UnitRow> {};

TEST_P(ProductUnits, AreThoseOfTheNarrowestOperands) {
  const UnitRow& row = GetParam();
  const auto task = task_formats::load_python(
      std::string("import torch\nimport torch.nn.functional as F\n\n\ndef reference(") +
          row.parameters + "):\n    return " + row.body + "\n",
      "unit.py");
  ASSERT_TRUE(task) << task.error().message;
  const auto graph = task->reference->trace(task->benchmark_shapes.at(0));
  ASSERT_TRUE(graph);
  EXPECT_EQ(work_at(*task, *graph).product, row.unit);
}

INSTANTIATE_TEST_SUITE_P(
    All, ProductUnits,
    testing::Values(
        UnitRow{"Halves", "x: 'fp16[32, 16]', w: 'fp16[16, 8]'", "x @ w", "fp16"},
        UnitRow{"Convolution", "x: 'fp16[2, 8, 9, 9]', w: 'fp16[4, 8, 3, 3]'",
                "F.conv2d(x, w, padding=1)", "fp16"},
        UnitRow{"Widened", "x: 'bf16[32, 16]', w: 'bf16[16, 8]'", "x.float() @ w.float()", "bf16"},
        UnitRow{"OneWide", "x: 'fp16[32, 16]', w: 'fp32[16, 8]'", "x.float() @ w", "fp32"},
        UnitRow{"Computed", "x: 'fp16[32, 16]', w: 'fp16[16, 8]'",
                "torch.exp(x.float()) @ w.float()", "fp32"},
        UnitRow{"NarrowestOfTwo", "x: 'fp16[32, 16]', w: 'fp16[16, 8]', v: 'fp32[8, 4]'",
                "(x @ w).float() @ v", "fp16"},
        UnitRow{"None", "x: 'fp16[32, 16]'", "x + 1", "fp32"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::timing
