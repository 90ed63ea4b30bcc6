// How the folders' own harness calls a candidate, as their code says it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "task_formats/load_rkb.h"

namespace kw::task_formats {
namespace {

std::string value_text(const task::CallValue& value) {
  std::vector<std::string> items;
  for (const task::CallValue& item : value.items) items.push_back(value_text(item));
  switch (value.kind) {
    case task::CallValue::Kind::None:
      return "None";
    case task::CallValue::Kind::Float:
    case task::CallValue::Kind::Bool:
      return fmt::format("{:g}", value.number);
    case task::CallValue::Kind::Tuple:
      return "(" + join(items, ", ") + ")";
    default:
      return value.text;
  }
}

std::string call_text(const task::Task& task) {
  if (!task.call) return "none";
  std::vector<std::string> arguments, spare;
  for (const task::CallValue& value : task.call->arguments) arguments.push_back(value_text(value));
  for (const task::TensorSpec& spec : task.call->spare) spare.push_back(spec.name);
  std::string text = "f(" + join(arguments, ", ") + ")";
  if (!task.call->results.empty()) text += " -> " + join(task.call->results, ", ");
  if (!spare.empty()) text += "; spare " + join(spare, ", ");
  return text;
}

struct Called {
  const char* file;
  const char* call;
};

class RkbCall : public testing::TestWithParam<Called> {};

TEST_P(RkbCall, IsReadFromTheFoldersOwnCode) {
  const auto read = read_rkb(std::string(KW_REFERENCES_DIR) + "/rkb/" + GetParam().file, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(call_text(read->tasks.at(0)), GetParam().call);
}

INSTANTIATE_TEST_SUITE_P(
    Folders, RkbCall,
    testing::Values(
        Called{"row_norm/func_forward.py", "f(x, gain, shift, 1e-05)"},
        Called{"row_norm/func_backward.py",
               "f(grad_out0, x, gain, shift, 1e-05, (extents_0, extents_1)) -> grad_x, grad_gain, "
               "grad_shift; spare shift"},
        Called{"window_max/func_backward.py", "f((x), grad_out0) -> grad_x"},
        Called{"spread_linear/func_backward.py", "none"},  // a gradient is missing
        Called{"block/func_forward.py", "f(x, weight, bias, None, 1)"}));

}  // namespace
}  // namespace kw::task_formats
