// Tests of the lexer, the source rules and the injection of tunables.
#include <gtest/gtest.h>

#include "core/text.h"
#include "cuda_source/source_check.h"
#include "cuda_source/source_host.h"
#include "cuda_source/source_kernels.h"
#include "cuda_source/source_lexer.h"
#include "kernel/inject.h"

namespace kw::kernel {
namespace {

std::string token_texts(const std::string& text) {
  std::vector<std::string> out;
  for (const cuda_source::SourceToken& token : cuda_source::lex_source(text).tokens)
    out.push_back(token.text);
  return join(out, "|");
}

struct Tokens {
  const char* text;
  const char* want;
};

class Lexing : public testing::TestWithParam<Tokens> {};

TEST_P(Lexing, SplitsAsACompilerWould) { EXPECT_EQ(token_texts(GetParam().text), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    Cases, Lexing,
    testing::Values(Tokens{"int x = 1;", "int|x|=|1|;"}, Tokens{"a // b\nc", "a|c"},
                    Tokens{"a /* b\n */ c", "a|c"}, Tokens{"a // b \\\n c\nd", "a|d"},
                    Tokens{"in\\\nt x", "int|x"}, Tokens{"\"a // b\" c", "\"a // b\"|c"},
                    Tokens{"\"a\\\"b\" c", "\"a\\\"b\"|c"}, Tokens{"'\"' c", "'\"'|c"},
                    Tokens{"1'000'000 + 'a'", "1'000'000|+|'a'"}, Tokens{"1e-5f", "1e-5f"},
                    Tokens{"0x1p+3", "0x1p+3"}, Tokens{".5", ".5"}, Tokens{"%: %:%:", "#|##"},
                    Tokens{"R\"(a \" // b)\" c", "R\"(a \" // b)\"|c"},
                    Tokens{"R\"x(a )\" b)x\" c", "R\"x(a )\" b)x\"|c"},
                    Tokens{"R\"(a\\\nb)\" c", "R\"(a\\\nb)\"|c"}, Tokens{"u8\"a\" c", "u8\"a\"|c"},
                    Tokens{"\"open\nnext", "\"open|next"}, Tokens{"/* open", ""},
                    Tokens{"a::b", "a|::|b"}, Tokens{"R\"(open", "R\"(open"}, Tokens{"", ""}));

TEST(LexSource, FindsDirectivesAndTheirEnds) {
  const std::string text =
      "  #include <a.h> /* one\n two */ // three\nint x; # no\n# define A \\\n 1\n";
  const cuda_source::SourceText source = cuda_source::lex_source(text);
  ASSERT_EQ(source.directives.size(), 2u);
  EXPECT_EQ(source.directives[0].name, "include");
  EXPECT_EQ(source.directives[0].end, text.find("int x"));
  EXPECT_EQ(source.directives[1].name, "define");
  EXPECT_EQ(source.directives[1].end, text.size());
}

TEST(LexSource, PlacesAreThoseOfTheOriginal) {
  const cuda_source::SourceText source = cuda_source::lex_source("a\\\nb\n  c");
  ASSERT_EQ(source.tokens.size(), 2u);
  EXPECT_EQ(source.tokens[0].text, "ab");
  EXPECT_EQ(source.tokens[0].line, 1);
  EXPECT_EQ(source.tokens[1].line, 3);
  EXPECT_EQ(source.tokens[1].column, 3);
}

struct Source {
  const char* name;
  const char* text;
};

class Accepted : public testing::TestWithParam<Source> {};

TEST_P(Accepted, HasNoDiagnostics) {
  const auto diagnostics = cuda_source::check_source(GetParam().text);
  EXPECT_TRUE(diagnostics.empty())
      << cuda_source::render_diagnostics(diagnostics, GetParam().text, "test.cu");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Accepted,
    testing::Values(
        Source{"headers",
               "#include <cuda_fp16.h>\n#include <cub/block/block_reduce.cuh>\n"
               "#include <cuda/std/type_traits>\n#include <cooperative_groups/reduce.h>\n"
               "#  include <cstdint>  // why\n#include <curand_kernel.h>\n#include <nv/target>\n"},
        Source{"words_in_comments",
               "// #include \"x\" <<< clock64() __has_include\n/* extern \"C\" */\n"},
        Source{"words_in_strings", "const char* s = \"<<< #include clock64() %clock\";\n"},
        Source{"raw_string", "const char* s = R\"(\n#include \"x\"\n)\";\n"},
        Source{"shifts", "int a = 1 << 2; auto b = f<g<1>>(0); int c = 8 >> 1;\n"},
        Source{"asm_memory", "asm volatile(\"st.global.f32 [%0], %1;\" :: \"l\"(p), \"f\"(v));\n"},
        Source{"asm_cluster", "asm(\"ld.shared::cluster.u32 %0, [%1]; mov.u32 %0, %%laneid;\");\n"},
        Source{"asm_cvta", "asm(\"cvta.to.global.u64 %0, %1; prefetch.global.L2 [%0];\");\n"},
        Source{"pragmas",
               "#pragma unroll 4\n#pragma nv_diag_suppress 177\n_Pragma(\"unroll\")\n#pragma\n"
               "#pragma GCC diagnostic ignored \"-Wall\"\n_Pragma(\"clang diagnostic push\")\n"},
        Source{"host_device", "__host__ __device__ int f(); __device__ __host__ int g();\n"},
        Source{"member_clock", "int t = object.clock(); int u = pointer->clock();\n"},
        Source{"nothing", "#\n"}, Source{"crlf", "int a;\r\nint b;\r\n"},
        Source{"conditional", "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n#endif\n"},
        Source{"pastes", "#define JOIN(a, b) a##b\nint JOIN(date, _of_);\nint _; int __T;\n"},
        Source{"line", "int line = __LINE__; const char* f = __func__; int cpp = __cplusplus;\n"},
        Source{"splice", "#define ADD(a, b) \\\n  ((a) + (b))\n"}),
    [](const auto& c) { return c.param.name; });

class Refused : public testing::TestWithParam<Source> {};

TEST_P(Refused, HasDiagnostics) {
  EXPECT_FALSE(cuda_source::check_source(GetParam().text).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Refused,
    testing::Values(
        Source{"spliced_word", "#\\\ninclude \"x\"\n"},
        Source{"comment_between", "#include/**/\"x\"\n"},
        Source{"raw_string_ends", "const char* s = R\"()\"; \n#include \"x\"\n"},
        Source{"comment_ends", "/* */ #include \"x\"\n"},
        Source{"inside_if_0", "#if 0\n#include \"x\"\n#endif\n"},
        Source{"star_path", "#include <cub/*.h>\n"}, Source{"dots", "#include <cuda/../x.h>\n"},
        Source{"folder_only", "#include <cub/>\n"}, Source{"unclosed", "#include <cuda_fp16.h\n"},
        Source{"empty_include", "#include\n"}, Source{"lone_cr", "// a\r#include \"x\"\n"},
        Source{"blanks_behind_backslash", "// a \\\t\nint b;\n"},
        Source{"crlf_splice", "#define A \\\r\n 1\n"},
        Source{"asm_extern_global", "asm(\".extern .global .u32 x;\");\n"},
        Source{"asm_global_at_start", "asm(R\"(.global .u32 x;)\");\n"},
        Source{"asm_other_spelling", "__asm__ __volatile__(\".glo\" \"bal .u32 x;\");\n"},
        Source{"pragma_operator", "_Pragma(MACRO)\n"},
        Source{"gcc_dependency", "#pragma GCC dependency \"/etc/passwd\"\n"},
        Source{"clang_module", "_Pragma(\"clang module load\")\n"},
        Source{"managed", "__managed__ int x;\n"},
        Source{"has_include_in_code", "int x = __has_include;\n"},
        Source{"compiler", "#ifdef __CUDACC_RTC__\n#endif\n"},
        Source{"compiler_version", "int v = __CUDACC_VER_MAJOR__;\n"},
        Source{"compiler_of_headers", "#if _CCCL_COMPILER(NVRTC)\n#endif\n"},
        Source{"file_name", "constexpr char kFirst = __FILE__[0];\n"},
        Source{"pasted_compiler",
               "#define JOIN(a, b) a##b\nint v = JOIN(__CUDACC_VER, _MAJOR__);\n"},
        Source{"pasted_date", "#define JOIN(a, b) a##b\nconst char* d = JOIN(__DA, TE__);\n"},
        Source{"pasted_by_a_header", "const char* d = _CCCL_PP_CAT(__TIM, E__);\n"},
        Source{"pasted_underscores", "#define J(a, b, c) a##b##c\nint d = *J(_, _DATE_, _);\n"}),
    [](const auto& c) { return c.param.name; });

TEST(FindKernels, SeesThroughAttributesAndTemplates) {
  const cuda_source::SourceKernels kernels = cuda_source::find_kernels(cuda_source::lex_source(
      "template <int N> __global__ void __launch_bounds__(256, 2) first(int* x);\n"
      "__global__ __cluster_dims__(2, 1, 1) void second() {}\nvoid __global__ third(float) {}\n"
      "__global__ void first(int* x) {}\n"));
  EXPECT_EQ(kernels.names, (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_FALSE(kernels.made_by_macros);
  EXPECT_TRUE(
      cuda_source::find_kernels(cuda_source::lex_source("#define K(n) __global__ void n()\n"))
          .made_by_macros);
}

struct Injection {
  const char* name;
  const char* text;
  const char* before;  // start of the line at the injection point
  int line;
  bool has_include;
};

class Injections : public testing::TestWithParam<Injection> {};

TEST_P(Injections, StandBehindTheLastInclude) {
  const Injection& c = GetParam();
  const InjectionPoint point = find_injection(c.text);
  EXPECT_TRUE(std::string_view(c.text).substr(point.offset).starts_with(c.before));
  EXPECT_EQ(point.line, c.line);
  EXPECT_EQ(point.has_include, c.has_include);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Injections,
    testing::Values(
        Injection{"none", "int a;\n", "int a", 1, false},
        Injection{"one", "// x\n#include <a>\nint a;\n", "int a", 3, true},
        Injection{"two", "#include <a>\nint a;\n#include <b>\nint b;\n", "int b", 4, true},
        Injection{"conditional", "#ifdef X\n#if 1\n#include <a>\n#endif\n#else\n#endif\nint a;\n",
                  "int a", 7, true},
        Injection{"comment_goes_on", "#include <a> /* x\n y */\nint a;\n", "int a", 3, true},
        Injection{"in_comment", "/*\n#include <a>\n*/\nint a;\n", "/*", 1, false},
        Injection{"at_the_end", "#include <a>", "", 1, true},
        Injection{"unclosed_if", "#if 1\n#include <a>\nint a;\n", "#if", 1, false}),
    [](const auto& c) { return c.param.name; });

TEST(InjectDefines, KeepsTheLineTable) {
  const std::string constants =
      "#ifndef INFINITY\n#define INFINITY __builtin_bit_cast(float, 0x7f800000)\n#endif\n"
      "#ifndef NAN\n#define NAN __builtin_bit_cast(float, 0x7fffffff)\n#endif\n";
  EXPECT_EQ(
      inject_defines("#include <a>\nint a = VEC;\n", {{"VEC", 4}, {"LOW", -1}}, true, "x \"y\".cu"),
      "#include <a>\n#pragma nv_hdrstop\n" + constants +
          "#define VEC 4\n#define LOW (-1)\n"
          "#line 2 \"x \\\"y\\\".cu\"\nint a = VEC;\n");
  EXPECT_EQ(inject_defines("int a;\n", {}, true, "x.cu"), constants + "#line 1 \"x.cu\"\nint a;\n");
  EXPECT_EQ(inject_defines("#include <a>", {}, false, "x.cu"),
            "#include <a>\n" + constants + "#line 1 \"x.cu\"\n");
}

TEST(InjectDefines, PragmasGetNumbers) {
  const std::string text = inject_defines(
      "#pragma unroll (VEC ? LOW : VECS)\n  #pragma unroll VEC\n#pragma unroll\nint a = VEC;\n"
      "#pragma unroll VEC",
      {{"VEC", 4}, {"LOW", -1}}, false, "x.cu");
  EXPECT_EQ(text.substr(text.find("#line")),
            "#line 1 \"x.cu\"\n#pragma unroll (4 ? (-1) : VECS)\n  #pragma unroll 4\n"
            "#pragma unroll\nint a = VEC;\n#pragma unroll 4");
}

// What nvcc would leave out; NVRTC and clang refuse it or take it for device code.
struct HostCase {
  const char* text;
  const char* found;  // the names, in order
};

class HostCode : public testing::TestWithParam<HostCase> {};

TEST_P(HostCode, IsFoundAtNamespaceScope) {
  std::vector<std::string> names;
  for (const auto& one : cuda_source::find_host_code(GetParam().text))
    names.push_back(one.message.substr(1, one.message.find('\'', 1) - 1));
  EXPECT_EQ(join(names, " "), GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HostCode,
    testing::Values(
        HostCase{"void f(int x) { try { throw x; } catch (...) {} }", "f"},
        HostCase{"namespace a { namespace b::c { static float f() { return 1; } } int n = f(); }",
                 "f n"},
        HostCase{
            "struct T { T() { for (;;) {} } int v[4]; };\nT table;\nstatic T more[2] = {{}, {}};",
            "table more"},
        HostCase{"template <typename T> T f(T x) { return x; }", "f"},
        HostCase{"inline int counter{0};", "counter"},
        HostCase{"__device__ int f() { return 1; } __global__ void k(int* p) { *p = f(); }", ""},
        HostCase{"#include <x.h>\n#define DEV __device__ inline\nDEV int f() { return 1; }", ""},
        HostCase{"MY_DEVICE_INLINE int f() { return 1; }", ""},
        HostCase{
            "constexpr int f(int x) { return x + 1; } constexpr int kN = f(2); const int kM = 3;",
            ""},
        HostCase{"__constant__ float table[2] = {1, 2}; __device__ float more[3];", ""},
        HostCase{"template <int N> struct P { float v[N]; float sum() const { return v[0]; } };"
                 "template <> struct P<1> { float v; }; enum class E : int { A, B };",
                 ""},
        HostCase{
            "using F = float; typedef int I; static_assert(sizeof(F) == 4); struct S; int f(int);",
            ""},
        HostCase{"template <int N> __launch_bounds__(N) __global__ void k(float* p) { p[0] = N; }",
                 ""},
        HostCase{
            "extern __shared__ float dynamic[]; [[maybe_unused]] __device__ int f() { return 0; }",
            ""},
        HostCase{"", ""}, HostCase{"}}} ;; { ( [", ""}));

}  // namespace
}  // namespace kw::kernel
