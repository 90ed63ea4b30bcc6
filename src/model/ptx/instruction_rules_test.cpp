// Which instructions and pragmas device code may have.
#include "ptx/instruction_rules.h"

#include <gtest/gtest.h>

namespace kw::ptx {
namespace {

std::string with_body(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) "
         "vprintf\n(\n.param .b64 "
         "a\n)\n;\n.global .align 8 .u64 table[2] = {first, second};\n.visible .entry k(.param "
         ".u64 y) "
         ".maxntid 128, 1, 1\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\nld.param.u64 %rd1, [y];\n" +
         body + "\nret;\n}\n.section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n}\n";
}

struct RuleCase {
  const char* name;
  const char* body;
  const char* refused;  // a part of the message; "": allowed
};
void PrintTo(const RuleCase& c, std::ostream* out) { *out << c.name; }

class InstructionRules : public ::testing::TestWithParam<RuleCase> {};

TEST_P(InstructionRules, AreJudged) {
  const RuleCase& c = GetParam();
  const auto found = refused_instructions(with_body(c.body));
  if (*c.refused == 0) {
    EXPECT_TRUE(found.empty()) << found.front().message;
    return;
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find(c.refused), std::string::npos) << found[0].message;
  EXPECT_GT(found[0].ptx_line, 10);
}

const RuleCase kRuleCases[] = {
    {"Arithmetic", "add.s32 %r1, %r2, 3;\nfma.rn.f32 %r1, %r1, %r1, %r1;", ""},
    {"Tensor",
     "wgmma.fence.sync.aligned;\ncp.async.bulk.commit_group;\nmma.sync.aligned.m16n8k8.row.col.f32"
     ".tf32.tf32.f32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
     ""},
    {"Cooperation",
     "activemask.b32 %r1;\nelect.sync %r1|%p1, -1;\nmatch.any.sync.b32 %r1, %r2, -1;", ""},
    {"ScopeWithLabelAndGuard",
     "{\n.reg .pred p;\nLOOP: @!p bra LOOP;\n@%p1 bra $L__BB0_2;\n$L__BB0_2:\n}", ""},
    {"Call",
     "{ .param .b64 param0; st.param.b64 [param0], %rd1; call.uni (retval0), vprintf, (param0); }",
     ""},
    {"Comment", "// pmevent 1;\n/* brkpt; */ mov.u32 %r1, %r2; // brkpt;", ""},
    {"LineTable", ".loc 1 5 3, function_name $L__info_string0, inlined_at 1 9 2\nmov.u32 %r1, %r2;",
     ""},
    {"KnownPragma", ".pragma \"nounroll\";", ""},
    {"PerformanceMonitor", "pmevent 1;", "'pmevent', which triggers a performance monitor"},
    {"Breakpoint", "@%p1 brkpt;", "'brkpt'"},
    {"BehindLabel", "here: brkpt;", "'brkpt'"},
    {"InScope", "{ { brkpt; } }", "'brkpt'"},
    {"OnOneLine", "mov.u32 %r1, %r2; brkpt; mov.u32 %r1, %r2;", "'brkpt'"},
    {"TensorMap", "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;",
     "which memory a tensor map names"},
    {"OtherGpus", "multimem.red.global.add.f32 [%rd1], %r1;", "other GPUs"},
    {"Texture", "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, {%r1, %r2}];", "textures"},
    {"NotKnown", "spyon.u32 %r1;", "'spyon', which is not on the list"},
    {"Pragma", ".pragma \"look around\";", "the pragma 'look around'"},
};

INSTANTIATE_TEST_SUITE_P(Cases, InstructionRules, ::testing::ValuesIn(kRuleCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(InstructionRules, OnlyKernelsThatAreLaunchedCount) {
  const std::string text =
      with_body("") + ".visible .entry other()\n{\nbrkpt;\nret;\n}\n.func helper()\n{\nret;\n}\n";
  EXPECT_TRUE(refused_instructions(text, {"k"}).empty());
  EXPECT_EQ(refused_instructions(text, {"other"}).size(), 1U);
  EXPECT_EQ(refused_instructions(text).size(), 1U);
  EXPECT_EQ(refused_instructions(text + ".func last()\n{\npmevent 1;\n}\n", {"k"}).size(), 1U);
}

TEST(InstructionRules, AnyTextIsRead) {
  for (const char* text :
       {"", "{", ".entry", "@", "ld.global", ".section", ".pragma \"", "a:", "/*"})
    (void)refused_instructions(text);
}

}  // namespace
}  // namespace kw::ptx
