#include "kernel/parse_module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kernel/test_module.h"

namespace kw::kernel {
namespace {

TEST(Parse, KeepsEverythingALineSays) {
  const Module m = plan(
      "input x: fp16[B, 2 * D] strides(S0, 1) align 32\ninput bias?: fp32[D]\noutput y: bf16[]\n"
      "inout z: int8[B]\nscratch p: fp32[B, 2]\nscratch q: uint32[1] = 0\nscratch r: uint32[1] = 0 "
      "kept\n"
      "scalar eps: fp32 = 1e-5\nscalar n: int32 = -3\nscalar on: bool = true\nscalar seed: uint64\n"
      "let M = B + 1\ntune VEC in 8, -1 where VEC != 0\nmethod memory.vectorized_access when VEC > "
      "1, off VEC=-1\n"
      "tensormap T of x box(64, 8) swizzle 64B\nwhen B > 1\n"
      "launch ns::k<VEC, (B > 2), float> grid(B, 2) block(32, 4, 2) shared(64 * B) cluster(2, 1) "
      "cooperative pdl "
      "args(x, bias, y, z, p, eps)\nwhen true\nrepeat i in 1..M\nlaunch first grid(1) block(1) "
      "args(y, z, i)\nend\n"
      "launch second grid(1) block(1) args()");
  ASSERT_EQ(m.tensors.size(), 7u);
  EXPECT_EQ(m.tensors[0].shape[1].text, "2 * D");
  EXPECT_EQ(m.tensors[0].strides[0].text, "S0");
  EXPECT_EQ(m.tensors[0].align, 32);
  EXPECT_TRUE(m.tensors[1].optional);
  EXPECT_TRUE(m.tensors[2].shape.empty());
  EXPECT_EQ(m.tensors[3].role, Role::Inout);
  EXPECT_EQ(m.tensors[4].fill, Fill::Poison);
  EXPECT_EQ(m.tensors[5].fill, Fill::Zero);
  EXPECT_EQ(m.tensors[6].fill, Fill::ZeroKept);
  EXPECT_EQ(m.scalars[0].value, 1e-5);
  EXPECT_EQ(m.scalars[1].integer, -3);
  EXPECT_EQ(m.scalars[2].integer, 1);
  EXPECT_FALSE(m.scalars[3].integer);
  EXPECT_EQ(m.tunes[0].values, (std::vector<int64_t>{8, -1}));
  EXPECT_EQ(m.methods[0].off[0].second, -1);
  EXPECT_EQ(m.tensormaps[0].swizzle_bytes, 64);
  EXPECT_EQ(m.dims(), (std::vector<std::string>{"B", "D", "S0"}));
  ASSERT_EQ(m.groups.size(), 2u);
  const LaunchDecl& launch = m.groups[0].launches[0];
  EXPECT_EQ(launch.kernel, "ns::k<VEC, (B > 2), float>");
  EXPECT_EQ(launch.block.size(), 3u);
  EXPECT_TRUE(launch.cooperative && launch.pdl);
  EXPECT_EQ(launch.cluster.size(), 2u);
  EXPECT_EQ(m.groups[1].repeats[0].end.text, "M");
  EXPECT_EQ(m.groups[1].launches[0].repeat, 0);
  EXPECT_EQ(m.groups[1].launches[1].repeat, -1);
  EXPECT_TRUE(m.groups[1].launches[1].args.empty());
}

TEST(Parse, CommentsBlanksAndOrderDoNotMatter) {
  const std::string text =
      "// a file\n/* of\n   some kind */\n\t//! kernelwright 1   // the version\n//!\n//!   // "
      "nothing\n"
      "//! launch k grid(N) block(1) args(x, y)\n__global__ void k(const float* x, float* y);\r\n"
      "//! let N = M / 1   // M comes later\r\n//! output y: fp32[M]\n//! input x: fp32[M]\n//! "
      "task t";
  const Module m = parse_or_fail(text);
  EXPECT_EQ(print(m), text);
  EXPECT_EQ(m.task, "t");
  EXPECT_EQ(m.groups[0].launches[0].line, 7);
}

TEST(Parse, ReportsAllProblemsAtOnceInOrder) {
  const std::string text =
      "//! kernelwright 1\n//! task a b\n//! input x: fp17[N]\n//! input z: fp32[\n//! output y: "
      "fp32[N]\n"
      "//! scalar e: fp32 = x\n//! tune V in 1\n//! launch j grid(Q) block(256) args(x, y, z, V)\n"
      "#include \"a.h\"\n__global__ void k();\n";
  const ParseOutcome outcome = parse(text, "t.cu");
  EXPECT_FALSE(outcome.module);
  std::vector<int> lines;
  for (const cuda_source::Diagnostic& d : outcome.diagnostics) lines.push_back(d.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 3, 4, 6, 7, 8, 8, 9}))
      << cuda_source::render_diagnostics(outcome.diagnostics, text, "t.cu");
}

TEST(Parse, ABrokenLineCausesNoFurtherComplaints) {
  const std::string text =
      "//! kernelwright 1\n//! task a\n//! input x: fp32[B, D\n//! output y: fp32[B]\n"
      "//! launch k grid(B) block(D) args(x, y, D)\n__global__ void k();\n";
  const ParseOutcome outcome = parse(text, "t.cu");
  ASSERT_EQ(outcome.diagnostics.size(), 1u)
      << cuda_source::render_diagnostics(outcome.diagnostics, text, "t.cu");
  EXPECT_EQ(outcome.diagnostics[0].line, 3);
}

TEST(Parse, TooManyProblemsAreCounted) {
  std::string text = "//! kernelwright 1\n";
  for (int i = 0; i < 300; ++i) text += "//! nonsense\n";
  const ParseOutcome outcome = parse(text, "t.cu");
  EXPECT_EQ(outcome.diagnostics.size(), 101u);
  EXPECT_EQ(outcome.diagnostics.back().message, "202 more problems are not shown");
}

TEST(Parse, HugeTextsAreRefused) {
  const ParseOutcome outcome = parse(std::string(kMaxModuleBytes + 1, ' '), "t.cu");
  ASSERT_EQ(outcome.diagnostics.size(), 1u);
  EXPECT_EQ(outcome.diagnostics[0].message, "the file has 1.0 MiB; a module has at most 1.0 MiB");
}

TEST(Parse, ManyPlanLinesAreRefused) {
  std::string text = "//! kernelwright 1\n";
  for (int i = 0; i < 6000; ++i) text += "//! let L" + std::to_string(i) + " = 1\n";
  ASSERT_EQ(parse(text, "t.cu").diagnostics.size(), 1u);
}

TEST(Parse, LongPlanLinesAreRefused) {
  const ParseOutcome outcome =
      parse("//! kernelwright 1\n//! task t" + std::string(9000, 'a'), "t.cu");
  const auto too_long = [](const cuda_source::Diagnostic& d) {
    return d.line == 2 && d.message == "this '//!' line is longer than 8000 bytes";
  };
  EXPECT_TRUE(std::ranges::any_of(outcome.diagnostics, too_long));
}

TEST(Parse, KernelsHiddenInMacrosAreLeftToTheCompiler) {
  parse_or_fail(
      "//! kernelwright 1\n//! task t\n//! output y: fp32[N]\n//! launch add_float grid(1) "
      "block(1) args(y)\n"
      "#define KERNEL(name) __global__ void name##_float(float* y)\nKERNEL(add) { *y = 1; }\n");
}

TEST(Render, MarksThePlaceBehindTabsAndWideCharacters) {
  const std::string text = "\tä = b\n";
  EXPECT_EQ(cuda_source::render_diagnostics({{1, 7, 1, "what", "how"}}, text, "f.cu"),
            "f.cu:1:7: error: what\n  \tä = b\n  \t    ^\n  hint: how\n");
  EXPECT_EQ(cuda_source::render_diagnostics({{0, 0, 1, "all", ""}}, text, "f.cu"),
            "f.cu: error: all\n");
  EXPECT_EQ(cuda_source::render_diagnostics({{9, 1, 1, "gone", ""}}, text, "f.cu"),
            "f.cu:9:1: error: gone\n");
}

TEST(Render, CutsLongLines) {
  const std::string text = std::string(1000, 'a') + "X" + std::string(1000, 'b');
  const std::string out = cuda_source::render_diagnostics({{1, 1001, 1, "here", ""}}, text, "f.cu");
  EXPECT_LT(out.size(), 400u);
  const size_t place = out.find('X'), caret = out.find('^');
  const size_t line = out.rfind('\n', place), caret_line = out.rfind('\n', caret);
  EXPECT_EQ(place - line, caret - caret_line);
}

}  // namespace
}  // namespace kw::kernel
