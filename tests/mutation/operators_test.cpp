// The reader of PTX lines and the operators, on a small text.
#include "operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ptx/parse.h"
#include "sample.h"

namespace kw::mutation {
namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(
	.param .u64 scale_param_0,
	.param .u64 scale_param_1,
	.param .u32 scale_param_2
)
{
	.reg .pred 	%p<2>;
	.reg .f32 	%f<5>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<8>;
	.loc	1 9 3
	ld.param.u64 	%rd1, [scale_param_0];
	ld.param.u64 	%rd2, [scale_param_1];
	ld.param.u32 	%r1, [scale_param_2];
	mov.u32 	%r2, %tid.x;
	.loc	1 10 3
	setp.ge.s32 	%p1, %r2, %r1;
	@%p1 bra 	$L__BB0_2;
	.loc	1 11 5
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	mul.wide.s32 	%rd5, %r2, 4;
	add.s64 	%rd6, %rd3, %rd5;
	ld.global.f32 	%f1, [%rd6];
	mov.f32 	%f4, 0f00000000;
	fma.rn.f32 	%f2, %f1, 0f40000000, %f4;
	max.f32 	%f3, %f2, %f4;
	add.s64 	%rd7, %rd4, %rd5;
	st.global.f32 	[%rd7], %f3;
	bar.sync 	0;
$L__BB0_2:
	ret;
}
)";

TEST(PtxLines, ReadsInstructionsWithTheirPlaces) {
  const PtxLines lines(kText);
  ASSERT_EQ(lines.instructions().size(), 18u);
  const Instruction& compare = lines.instructions()[4];
  EXPECT_EQ(compare.place(), "10 setp.ge.s32 #0");
  EXPECT_EQ(compare.operands, (std::vector<std::string>{"%p1", "%r2", "%r1"}));
  EXPECT_EQ(lines.instructions()[5].guard, "@%p1 ");
  EXPECT_EQ(lines.register_type(0, "%rd6"), "b64");
  EXPECT_EQ(lines.register_type(0, "%f1"), "f32");
  EXPECT_EQ(lines.replaced({}), kText);
}

TEST(PtxLines, SeesDeadCode) {
  const std::string dead = std::string(kText).replace(std::string(kText).find("	bar.sync"), 0,
                                                      "	mov.u32 %r5, 7;\n");
  EXPECT_TRUE(same_live_code(kText, dead));
  const std::string live = std::string(kText).replace(std::string(kText).find("	bar.sync"), 0,
                                                      "	st.global.f32 [%rd7], %f1;\n");
  EXPECT_FALSE(same_live_code(kText, live));
}

TEST(Operators, EveryMutantAndProbeParses) {
  const PtxLines lines(kText);
  const auto all = ptx_mutations(lines, 1);
  std::set<Operator> operators;
  for (const Mutation& one : all) {
    operators.insert(one.op);
    const size_t line = lines.instructions()[one.instruction].line;
    for (const std::string& text : {one.text, one.probe}) {
      if (text.empty()) continue;
      const auto parsed = ptx::parse(lines.replaced({{line, text}}));
      EXPECT_TRUE(parsed) << one.key() << "\n"
                          << text << "\n"
                          << (parsed ? "" : parsed.error().message);
    }
  }
  EXPECT_EQ(operators.size(), static_cast<size_t>(kOperators));
}

TEST(Operators, FindTheSamePlaceAgain) {
  const PtxLines lines(kText);
  for (const Mutation& one : ptx_mutations(lines, 1)) {
    const auto again = same_mutations(lines, one, 1);
    ASSERT_EQ(again.size(), 1u) << one.key();
    EXPECT_EQ(again[0].text, one.text);
  }
}

TEST(Operators, ChangePlanLines) {
  const std::string text =
      "//! kernelwright 1\n//! let     T = ceil_div(D, 4)\n//! when    D <= 8\n//! launch  k "
      "grid(T, 2) block(32) args(x, y, D)\n";
  std::set<std::string> texts;
  for (const Mutation& one : plan_mutations(text)) {
    EXPECT_NE(mutated_plan(text, one), text);
    texts.insert(one.text);
  }
  EXPECT_TRUE(texts.count("//! let     T = max(1, (D) / (4))"));
  EXPECT_TRUE(texts.count("//! when    D <= 9"));
  EXPECT_TRUE(texts.count("//! launch  k grid(max(1, T - 1), 2) block(32) args(x, y, D)"));
  EXPECT_TRUE(texts.count("//! launch  k grid(T, 2) block(32) args(y, x, D)"));
}

TEST(Sample, TakesSomeOfEveryOperator) {
  const PtxLines lines(kText);
  const auto chosen = sample(ptx_mutations(lines, 1), 2, 7);
  for (int op = 1; op <= kOperators; ++op) {
    const auto count = std::ranges::count_if(
        chosen, [&](const Mutation& one) { return static_cast<int>(one.op) == op; });
    EXPECT_GE(count, 1) << op;
    EXPECT_LE(count, 4) << op;
  }
}

}  // namespace
}  // namespace kw::mutation
