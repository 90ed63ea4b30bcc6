#include "kernel/select.h"

#include <gtest/gtest.h>

#include "kernel/test_module.h"

namespace kw::kernel {
namespace {

using Assignment = std::map<std::string, int64_t>;

TEST(TuneSpace, ListsWhatSatisfiesEveryWhereInOrder) {
  const Module m = plan(
      "output y: fp32[N]\nlet BYTES = STAGES * TILE\ntune TILE in 64, 32\ntune STAGES in 3, 2, 1 "
      "where BYTES <= 96\n"
      "launch k grid(1) block(TILE) args(y)");
  const auto space = tune_space(m, 100);
  ASSERT_EQ(space.size(), 4u);
  EXPECT_EQ(space[0], (Assignment{{"TILE", 64}, {"STAGES", 1}}));
  EXPECT_EQ(space[1], (Assignment{{"TILE", 32}, {"STAGES", 3}}));
  EXPECT_EQ(space[3], (Assignment{{"TILE", 32}, {"STAGES", 1}}));
  EXPECT_EQ(tune_space(m, 2).size(), 2u);
  EXPECT_TRUE(tune_space(m, 0).empty());
}

TEST(TuneSpace, WithoutTunablesThereIsOneAssignment) {
  EXPECT_EQ(tune_space(plan("output y: fp32[N]\nlaunch k grid(1) block(1) args(y)"), 10).size(),
            1u);
}

TEST(TuneSpace, AHugeSpaceWithoutMembersEnds) {
  std::string lines = "output y: fp32[N]\nlaunch k grid(1) block(1) args(y)\n";
  for (int i = 0; i < 12; ++i) {
    lines += "tune T" + std::to_string(100 + i) + " in 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n";
  }
  lines += "tune LAST in 1 where T100 + T111 + LAST > 1000";
  const Module m = plan(lines);
  EXPECT_TRUE(tune_space(m, 10).empty());
  const auto selection = select(m, bind({{"N", 1}}));
  ASSERT_FALSE(selection);
  EXPECT_NE(selection.error().message.find("the search was given up"), std::string::npos);
}

TEST(Select, CompletesGivenTunables) {
  const Module m = plan(
      "output y: fp32[N]\ntune AAA in 1, 2\ntune BBB in 1, 2, 3 where BBB != AAA\n"
      "launch k<AAA, BBB> grid(1) block(1) args(y)");
  Bindings bindings = bind({{"N", 1}});
  const auto defaults = select(m, bindings);
  ASSERT_TRUE(defaults);
  EXPECT_EQ(defaults->kernels, std::vector<std::string>{"k<1, 2>"});
  bindings.tunes = {{"BBB", 1}};
  const auto given = select(m, bindings);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->kernels, std::vector<std::string>{"k<2, 1>"});
  EXPECT_EQ(given->defines, (std::vector<std::pair<std::string, int64_t>>{{"AAA", 2}, {"BBB", 1}}));
  bindings.tunes = {{"AAA", 2}, {"BBB", 2}};
  const auto refused = select(m, bindings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "no values of the tunables satisfy every 'where' with AAA = 2, BBB = 2");
}

TEST(Select, SubstitutesValuesInTemplateArguments) {
  const Module m = plan(
      "input x: fp32[N]\noutput y: fp32[N]\nscalar width: int32 = 5\nlet HALF = N / 2\ntune VEC in "
      "4\n"
      "launch ns::k<VEC, HALF, width, float, ns::N, x::VEC, 0x10u, SMS, (N > 3)> grid(1) block(1) "
      "args(x, y)\n"
      "launch k<N / 2> grid(1) block(1) args(y)\nlaunch k<N / 2> grid(2) block(1) args(y)");
  const auto selection = select(m, bind({{"N", 8}}));
  ASSERT_TRUE(selection) << selection.error().message;
  EXPECT_EQ(selection->kernels,
            (std::vector<std::string>{"ns::k<4, 4, 5, float, ns::N, x::VEC, 0x10u, 132, (8 > 3)>",
                                      "k<8 / 2>"}));
}

TEST(Select, NegativeValuesStayOneOperand) {
  const Module m =
      plan("output y: fp32[N]\ntune LOW in -3\nlaunch k<4-LOW,LOW> grid(1) block(1) args(y)");
  EXPECT_EQ(select(m, bind({{"N", 8}}))->kernels, std::vector<std::string>{"k<4-(-3), (-3)>"});
}

TEST(Select, UnrollsRepeatsForTheKernelsTheyName) {
  const Module m = plan(
      "output y: fp32[N]\nrepeat p in 1..N\nlaunch k<p> grid(1) block(1) args(y)\nend\n"
      "launch first grid(1) block(1) args(y)");
  const auto selection = select(m, bind({{"N", 4}}));
  ASSERT_TRUE(selection) << selection.error().message;
  EXPECT_EQ(selection->kernels, (std::vector<std::string>{"k<1>", "k<2>", "k<3>", "first"}));
  const auto none = select(m, bind({{"N", 0}}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->kernels, std::vector<std::string>{"first"});
}

TEST(Select, UsesTheFirstGuardThatHolds) {
  const Module m = plan(
      "output y: fp32[N]\ninput bias?: fp32[N]\nwhen N % 4 == 0\nlaunch k grid(1) block(1) "
      "args(y)\n"
      "when has(bias) && SMS == 7\nlaunch first grid(1) block(1) args(y)\nwhen N < 100\n"
      "launch second grid(1) block(1) args(y)");
  Bindings bindings = bind({{"N", 8}});
  EXPECT_EQ(select(m, bindings)->group, 0);
  bindings.dims["N"] = 9;
  EXPECT_EQ(select(m, bindings)->group, 2);
  bindings.sms = 7;
  EXPECT_EQ(select(m, bindings)->group, 1);
  bindings.absent = {"bias"};
  EXPECT_EQ(select(m, bindings)->group, 2);
  bindings.dims["N"] = 101;
  const auto outside = select(m, bindings);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message,
            "shape outside the module's domain: line 5: 'N % 4 == 0' does not hold (N = 101); "
            "line 7: 'has(bias) && SMS == 7' does not hold (has(bias) = 0, SMS = 7); "
            "line 9: 'N < 100' does not hold (N = 101)");
}

TEST(Select, DimsOfAbsentInputsNeedNoValue) {
  const Module m =
      plan("input mask?: bool[N, M]\noutput y: fp32[N]\nlaunch k grid(1) block(1) args(mask, y)");
  Bindings bindings = bind({{"N", 8}});
  EXPECT_FALSE(select(m, bindings));
  bindings.absent = {"mask"};
  EXPECT_TRUE(select(m, bindings));
}

TEST(InferDims, ReadsBareSymbols) {
  const Module m = plan(
      "input x: fp32[B, 2 * D]\ninput w: fp32[D]\noutput y: fp32[B]\nlaunch k grid(1) block(1) "
      "args(x, w, y)");
  const auto dims = infer_dims(m, {{"x", {4, 6}}, {"w", {3}}});
  ASSERT_TRUE(dims);
  EXPECT_EQ(*dims, (Assignment{{"B", 4}, {"D", 3}}));
  EXPECT_EQ(infer_dims(m, {{"x", {4}}}).error().message,
            "'x' has 1 dimensions, but the module declares 2");
  EXPECT_EQ(infer_dims(m, {{"x", {4, 6}}, {"y", {5}}}).error().message,
            "dim B is 4 elsewhere, but 5 in 'y' (dimension 0)");
  EXPECT_EQ(infer_dims(m, {{"q", {}}}).error().message, "the module has no tensor 'q'");
}

}  // namespace
}  // namespace kw::kernel
