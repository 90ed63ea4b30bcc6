// Tests the names given to extents that a reference writes as numbers.
#include <gtest/gtest.h>

#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

constexpr const char* kNumbers = "def reference(x: 'fp32[12, 16]'):\n    return x + 1\n";

TEST(NamedExtents, AreTheNamesDimsMayGive) {
  const auto plain = load_python(kNumbers, "numbers.py");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(task::dims_text(plain->benchmark_shapes.at(0)), "d0=12 d1=16");
  LoadOptions options;
  options.dims = {{"d0", 5}};
  const auto given = load_python(kNumbers, "numbers.py", options);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(task::dims_text(given->benchmark_shapes.at(0)), "d0=5 d1=16");
}

TEST(NamedExtents, AreNoneTheReferenceHasItself) {
  const auto task =
      load_python("def reference(x: 'fp32[d0, 16]'):\n    return x + 1\n", "mixed.py");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->dims.count("d0"), 1u);
  EXPECT_NE(task->inputs.at(0).shape.at(1), "d0");
}

TEST(NamedExtents, AreNoneThatIntegersMayPointInto) {
  const auto task = load_python(
      "import torch\nimport torch.nn.functional as F\n"
      "def reference(x, t):\n    return F.cross_entropy(x, t)\n"
      "def get_inputs():\n    return [torch.randn(6, 5), torch.randint(0, 5, (6,))]\n",
      "classes.py");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task::dims_text(task->benchmark_shapes.at(0)), "d0=6");
  EXPECT_EQ(task->inputs.at(0).shape, (std::vector<std::string>{"d0", "5"}));
}

}  // namespace
}  // namespace kw::task_formats
