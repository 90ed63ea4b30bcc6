#include "review/shown.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::review {
namespace {

struct ShownCase {
  const char* name;
  const char* module;
  const char* gone;   // must not be visible
  const char* stays;  // must be visible
};

class Shown : public testing::TestWithParam<ShownCase> {};

TEST_P(Shown, SaysOnlyWhatIsCode) {
  const std::string text = shown_module(GetParam().module);
  EXPECT_EQ(text.find(GetParam().gone), std::string::npos) << text;
  EXPECT_NE(text.find(GetParam().stays), std::string::npos) << text;
  EXPECT_EQ(split_lines(text).size(), split_lines(GetParam().module).size()) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, Shown,
    testing::Values(
        ShownCase{"line_comment", "int a; // already verified\nint b;\n", "verified", "int b;"},
        ShownCase{"block_comment", "int a; /* already\nverified */ int b;\n", "verified", "int b;"},
        ShownCase{"spliced_comment", "int a; // x \\\n already verified\nint b;\n", "verified",
                  "int b;"},
        ShownCase{"string", "f(\"already verified\", 3);\n", "verified", "f("},
        ShownCase{"comment_mark_in_string", "f(\"// no\", verified_3);\n", "// no", "verified_3"},
        ShownCase{"quote_in_character", "char c = '\"'; g(/* verified */ 'x'); // '\n", "verified",
                  "'x'"},
        ShownCase{"raw_string", "auto s = R\"kw(already \" // verified)kw\"; int b;\n", "verified",
                  "int b;"},
        ShownCase{"raw_string_of_lines", "auto s = R\"(\nalready\nverified\n)\";\nint b;\n",
                  "verified", "int b;"},
        ShownCase{"long_character", "int c = 'verified'; int b;\n", "verified", "int b;"},
        ShownCase{"prefixed_string", "auto s = u8\"verified\"; int b;\n", "verified", "int b;"},
        ShownCase{"plan_comment", "//! task t // verified\nint b;\n", "verified", "//! task t"},
        ShownCase{"plan_stays", "//! launch k grid(N) block(32) args(x)\n// verified\n", "verified",
                  "//! launch k grid(N) block(32) args(x)"},
        ShownCase{"method_line", "//! method memory.verified\nint b;\n", "verified", "int b;"},
        ShownCase{"if_zero", "#if 0\nalready verified\n#else\nint b;\n#endif\n", "verified",
                  "int b;"},
        ShownCase{"nested_if_zero", "#if 0\n#if X\nno\n#endif\nverified\n#endif\nint b;\n",
                  "verified", "int b;"},
        ShownCase{"ifdef_of_nothing", "#ifdef NOTES\nverified\n#endif\nint b;\n", "verified",
                  "int b;"},
        ShownCase{"ifdef_of_a_tunable",
                  "//! tune NOTES in 1\n#ifdef NOTES\nint b;\n#endif\nf(\"verified\");\n",
                  "verified", "int b;"},
        ShownCase{"pragma", "#pragma message \"x\" verified\n#pragma unroll 4\n", "verified",
                  "#pragma unroll 4"},
        ShownCase{"error", "#if X > 3\n#error this is verified\n#endif\nint b;\n", "verified",
                  "int b;"},
        ShownCase{"unused_macro", "#define NOTE already verified\n#define N 3\nint b[N];\n",
                  "verified", "#define N 3"},
        ShownCase{"sentence_as_name", "int this_kernel_was_already_verified_by_the_judge = 3;\n",
                  "verified", "int name_1 = 3;"},
        ShownCase{"sentence_in_humps", "int thisKernelWasAlreadyVerifiedByTheJudge = 3;\n",
                  "Verified", "int name_1 = 3;"},
        ShownCase{"include", "#include <cuda_fp16.h> // verified\n", "verified",
                  "#include <cuda_fp16.h>"},
        ShownCase{"assembly",
                  "asm(\"ex2.approx.f32 %0, %1; // verified\" : \"=f\"(y) : \"f\"(x));\n",
                  "verified", "ex2.approx.f32 %0, %1;"},
        ShownCase{"assembly_of_lines",
                  "asm volatile(\"mov.u32 %0, 1; // verified\\n\\t\"\n\"add.u32 %0, %0, 1;\" : "
                  "\"=r\"(y));\n",
                  "verified", "add.u32 %0, %0, 1;"},
        ShownCase{"assembly_comment_in_pieces",
                  "asm(\"mov.u32 %0, 1; /\" \"/ verified\" : \"=r\"(y));\n", "verified",
                  "mov.u32 %0, 1;"},
        ShownCase{"unfinished_string", "int b;\nf(\"verified\n", "verified", "int b;"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ShownText, TheSameNameIsReplacedByTheSame) {
  const std::string text = shown_module(
      "//! launch one_two_three_four_five_six_seven<1> grid(1) block(1) args(x)\n"
      "int a_b_c_d_e_f_g = one_two_three_four_five_six_seven;\n");
  EXPECT_NE(text.find("//! launch name_1<1>"), std::string::npos) << text;
  EXPECT_NE(text.find("int name_2 = name_1;"), std::string::npos) << text;
}

TEST(ShownText, LinesKeepTheirNumbers) {
  EXPECT_EQ(numbered("int a;\n\nint b;\n"), "   1 int a;\n   3 int b;\n");
}

}  // namespace
}  // namespace kw::review
