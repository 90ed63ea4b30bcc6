// Tests which variants of a module's kernels run together.
#include "plan/groups.h"

#include <gtest/gtest.h>

namespace kw::generate {
namespace {

Kernel kernel_with(const std::vector<std::string>& conditions) {
  Kernel kernel;
  for (const std::string& when : conditions) kernel.variants.push_back({when, {}});
  return kernel;
}

struct GroupRow {
  const char* name;
  std::vector<std::vector<std::string>> kernels;  // the conditions of their variants
  task::Dims at;
  std::vector<VariantChoice> groups;
};

class GroupTable : public testing::TestWithParam<GroupRow> {};

TEST_P(GroupTable, AreTriedInThisOrder) {
  const GroupRow& row = GetParam();
  Program program;
  program.guards = {"D >= 2"};
  program.lets = {{"HALF", "D / 2"}};
  Sequence sequence{&program, {}, {}};
  for (const auto& conditions : row.kernels) sequence.kernels.push_back(kernel_with(conditions));
  sequence.kernels[0].tunes.push_back({"VEC", {4, 1}, ""});
  EXPECT_EQ(launch_groups(sequence, {row.at}), row.groups);
}

const std::vector<std::vector<std::string>> kTwo = {{"D % VEC == 0", "D <= 9", ""},
                                                    {"HALF % 3 == 0", ""}};

INSTANTIATE_TEST_SUITE_P(
    Groups, GroupTable,
    testing::Values(GroupRow{"AllFast", kTwo, {{"D", 12}}, {{0, 0}, {1, 1}, {2, 1}}},
                    GroupRow{"OneIsNotAligned", kTwo, {{"D", 6}}, {{0, 0}, {1, 0}, {1, 1}, {2, 1}}},
                    GroupRow{"TheOtherIsNot", kTwo, {{"D", 8}}, {{0, 0}, {0, 1}, {1, 1}, {2, 1}}},
                    GroupRow{"AnotherTrace", kTwo, {{"D", 1}}, {{0, 0}, {1, 1}, {2, 1}}},
                    GroupRow{"Alone", {kTwo[0]}, {{"D", 7}}, {{0}, {1}, {2}}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::generate
