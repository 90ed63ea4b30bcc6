#include "compile/compiler_messages.h"

#include <gtest/gtest.h>

#include "compile/resources.h"
#include "compile/wire.h"

namespace kw::compile {
namespace {

std::string shown(std::string_view log) {
  std::string text;
  for (const ports::CompileMessage& m : parse_log(log, "m.cu", {"first<1>", "second"})) {
    text += "EWN"[static_cast<int>(m.severity)] + std::to_string(m.line) + ":" +
            std::to_string(m.column) + " " + m.text + "\n";
  }
  return text;
}

TEST(ParseLog, KnowsEveryDialect) {
  const struct {
    const char* log;
    const char* want;
  } cases[] = {
      {"", ""},
      {"m.cu(5): error: identifier \"q\" is undefined\n    p = q;\n        ^\n\n1 error detected\n",
       "E5:7 identifier \"q\" is undefined\n"},
      {"m.cu(5): error: identifier \"INFINITY\" is undefined\n    p = INFINITY;\n        ^\n",
       "E5:7 identifier \"INFINITY\" is undefined (it comes with #include <cmath>)\n"},
      {"m.cu:3:4: error: unknown type name 'uint32_t'\n",
       "E3:4 unknown type name 'uint32_t' (it comes with #include <cstdint>)\n"},
      {"m.cu(2): error: __host__ or __device__ annotation on lambda requires --extended-lambda "
       "nvcc flag\n",
       "E2:0 __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag "
       "(lambdas of a kernel module are device code as they are: leave the annotation out)\n"},
      {"m.cu:4:5: error: cannot use 'throw' in __host__ __device__ function\n",
       "E4:5 cannot use 'throw' in __host__ __device__ function (a module is device code, which "
       "has "
       "no exceptions)\n"},
      {"m.cu(5): warning #177-D: variable \"u\" was declared but never referenced\n  int u;\n      "
       "^\n\n"
       "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n",
       "W5:5 variable \"u\" was declared but never referenced\n"},
      {"m.cu(1): catastrophic error: cannot open source file \"cub/cub.cuh\"\n",
       "E1:0 cannot open source file \"cub/cub.cuh\" (this header comes with the CUDA toolkit, or: "
       "pip install "
       "nvidia-cuda-cccl)\n"},
      {"m.cu:1:10: fatal error: 'cub/cub.cuh' file not found\n",
       "E1:10 'cub/cub.cuh' file not found (clang compiles with kernelwright's own headers, which "
       "lack "
       "this one; NVRTC or nvcc may have it)\n"},
      {"/x/include/cuda_fp16.hpp(42): error: no instance\n          detected during:\n"
       "            instantiation of \"f\" at line 7 of m.cu\n",
       "E7:0 cuda_fp16.hpp:42: no instance\n"},
      {"__nv_name_map(2): error: identifier \"nope\" is undefined\n  #pragma nv_mangled_name "
       "nope<3>\n   ^\n\n"
       "__nv_name_map(2): error: Error in parsing name expression for lowered name lookup.\n"
       "  #pragma nv_mangled_name nope<3>\n   ^\n",
       "E0:0 launched kernel 'nope<3>': identifier \"nope\" is undefined\n"},
      {"kw_entries:2:40: error: use of undeclared identifier 'second'\n",
       "E0:0 launched kernel 'second': use of undeclared identifier 'second'\n"},
      {"m.cu:12:7: error: use of undeclared identifier 'x'\nm.cu:3:1: note: declared here\n"
       "2 errors generated when compiling for sm_90.\n",
       "E12:7 use of undeclared identifier 'x'\nN3:1 declared here\n"},
      {"ptxas application ptx input, line 23; error   : Unknown symbol '_Z1kPf'\n"
       "ptxas fatal   : Ptx assembly aborted due to errors\n",
       "E0:0 Unknown symbol 'k(float*)' (PTX line 23)\n"},
      {"ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x61a80 bytes, 0xc000 "
       "max)\n",
       "E0:0 Entry function 'k(float*)' uses too much shared data (0x61a80 bytes, 0xc000 max)\n"},
      {"ptxas info    : Used 12 registers\nptxas info    : (C7508) Potential Performance Loss: x\n",
       "N0:0 (C7508) Potential Performance Loss: x\n"},
      {"nvcc fatal   : Unsupported gpu architecture 'compute_99'\n",
       "E0:0 Unsupported gpu architecture 'compute_99'\n"},
      {"m.cu(3): warning #20283-D: PCH creation disabled because #line directive encountered\n",
       ""},
      {"/c/cmath(356): warning #47-D: incompatible redefinition of macro \"NAN\" (declared at line "
       "4 of "
       "/home/x/.cache/kernelwright/nvrtc-0123/math.h)\n",
       ""},
      {"m.cu(1): error: same\n\nm.cu(1): error: same\n", "E1:0 same\n"},
      {"m.cu(99999999999999999999): error: x\n(1): error: y\nm.cu:1:2:\n::::\n): error:\n", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(shown(c.log), c.want) << c.log;
}

TEST(ParseLog, IsBounded) {
  std::string log;
  for (int i = 0; i < 5000; ++i) log += "m.cu(" + std::to_string(i) + "): error: e\n";
  EXPECT_EQ(parse_log(log, "m.cu").size(), 200U);
}

TEST(Quotable, GivesANameThatEveryCompilerTakes) {
  EXPECT_EQ(quotable("k.cu"), "k.cu");
  EXPECT_EQ(quotable("-k.cu"), "_k.cu");
  EXPECT_EQ(quotable("k-\xc3\xbc.cu"), "k-\xc3\xbc.cu");
  EXPECT_EQ(quotable("k\xff\xc3.cu"), "k__.cu");
  EXPECT_EQ(quotable("a\"\\\n\x7f.cu"), "a____.cu");
  EXPECT_EQ(quotable(""), "module.cu");
}

TEST(Demangle, NamesAndTexts) {
  EXPECT_EQ(demangle("_Z1kILi7EEvPf"), "void k<7>(float*)");
  EXPECT_EQ(demangle("plain"), "plain");
  EXPECT_EQ(demangle_all("in '_Z1kPf' and _Zbroken: x_Z1kPf"),
            "in 'k(float*)' and _Zbroken: x_Z1kPf");
}

TEST(ModuleLine, FollowsLoc) {
  const char* ptx =
      ".entry k(\n{\n.loc 2 9 1\n.loc 1 4 2\nadd;\n.loc 2 77 1\nmul;\n}\n.file 1 \"/m.cu\"\n.file "
      "2 \"/h.h\"\n";
  EXPECT_EQ(module_line(ptx, 5, "m.cu"), 4);
  EXPECT_EQ(module_line(ptx, 7, "m.cu"), 4)
      << "a header's line counts as the module line before it";
  EXPECT_EQ(module_line(ptx, 3, "m.cu"), 0);
  EXPECT_EQ(module_line(ptx, 1000000, "m.cu"), 4);
  EXPECT_EQ(module_line("", 5, "m.cu"), 0);
}

TEST(PtxasReport, IsRead) {
  const auto report = parse_ptxas_report(R"(
ptxas info    : 3 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function '_Z1kv' for 'sm_80'
ptxas info    : Function properties for helper
    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for _Z1kv
    32016 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 32016 bytes cumulative stack size, 28 bytes smem, 352 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compiling entry function 'other' for 'sm_80'
ptxas info    : Function properties for other
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
)");
  ASSERT_EQ(report.size(), 2U);
  const ports::KernelResources& k = report.at("_Z1kv");
  EXPECT_EQ(k.registers, 24);
  EXPECT_EQ(k.stack_bytes, 32016);
  EXPECT_EQ(k.spill_store_bytes, 12);
  EXPECT_EQ(k.spill_load_bytes, 16);
  EXPECT_EQ(k.static_shared, 28);
  EXPECT_EQ(k.constant_bytes, 360);
  EXPECT_EQ(report.at("other").static_shared, 0);
  EXPECT_EQ(report.at("other").constant_bytes, -1);
}

TEST(ScanPtx, FindsWhatAKernelCanReach) {
  const auto report = scan_ptx(R"(
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 tile[28];
.shared .align 4 .u32 flag;
.shared .align 8 .f64 grid[2][3];
.shared .align 4 .b8 unrelated[4096];
.func helper(.param .b32 a);
.func (.param .b32 r) helper(.param .b32 a)
{
  mov.u32 %r1, flag;
}
.visible .entry one(.param .u64 p)
.maxntid 128, 2, 1
.minnctapersm 2
{
  .local .align 4 .b8 __local_depot0[64];
  mov.u32 %r1, tile;
  { mov.u32 %r2, dynamic; }
  call (r), helper, (a);
}
.entry two()
.reqntid 64
{
  .shared .align 4 .b32 inside[2];
  mov.u64 %rd, grid; mov.u32 %r, inside;
}
)");
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report.at("one").static_shared, 28 + 4);
  EXPECT_EQ(report.at("one").local_bytes, 64);
  EXPECT_EQ(report.at("one").max_threads, 256);
  EXPECT_EQ(report.at("two").static_shared, 48 + 8);
  EXPECT_EQ(report.at("two").max_threads, 64);
}

TEST(ScanPtx, SurvivesNonsense) {
  for (const char* text : {"", ".entry", ".entry {", ".func (", ".entry x( {{{{", ".shared .b8 x[",
                           ".shared .b8 x[9"}) {
    scan_ptx(text);
  }
}

TEST(Wire, CarriesEverything) {
  ports::CompileRequest request;
  request.source = std::string("a\0\xff", 3);
  request.defines = {{"N", -5}};
  request.kernels = {"k<1>", ""};
  request.timeout_seconds = 0.25;
  request.image = ports::ImageKind::Cubin;
  ports::CompileRequest back;
  ASSERT_TRUE(decode(encode(request), &back));
  EXPECT_EQ(encode(back), encode(request));
  EXPECT_EQ(back.defines[0].second, -5);
  EXPECT_EQ(back.timeout_seconds, 0.25);

  ports::CompileOutcome outcome, other;
  outcome.failed = ports::CompileFailed{
      "c", {{ports::CompileMessage::Severity::Note, 3, 4, "t"}}, "log", true, false};
  ASSERT_TRUE(decode(encode(outcome), &other));
  EXPECT_FALSE(other.compiled);
  EXPECT_EQ(other.failed->messages[0].text, "t");
}

TEST(Wire, RefusesDamage) {
  ports::CompileOutcome outcome, back;
  outcome.compiled = ports::Compiled{};
  outcome.compiled->kernels.resize(3);
  outcome.compiled->image = "image";
  const std::string good = encode(outcome);
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(decode(good.substr(0, cut), &back)) << cut;
  EXPECT_FALSE(decode(good + "x", &back));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = '\xff';
    decode(bad, &back);  // any result is fine: no crash, no huge allocation
  }
}

}  // namespace
}  // namespace kw::compile
