#include <gtest/gtest.h>

#include "cuda_import/import.h"

namespace kw::cuda_import {
namespace {

constexpr const char* kTwoKernels =
    "__global__ void good(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }\n"
    "__global__ void bad(const float* x, float* y, int n) { y[threadIdx.x] = 0; }\n";

/// The problems of a file whose launcher has this body; "" if it becomes a module.
std::string problems_with(const std::string& before, const std::string& body) {
  ImportRequest request;
  request.text = kTwoKernels + before +
                 "extern \"C\" void solve(const float* x, float* y, int N) {\n" + body + "}\n";
  request.file_name = "solve.cu";
  request.task = "copy";
  request.given = {{"x", tensor::DType::Fp32, {"N"}}, {"y", tensor::DType::Fp32, {"N"}}};
  const Imported imported = import_launcher(request);
  std::string out;
  for (const cuda_source::Diagnostic& one : imported.problems) out += one.message + "\n";
  EXPECT_EQ(imported.module.empty(), !out.empty());
  return out;
}

struct Stateful {
  const char* before;
  const char* body;
  const char* problem;
};

constexpr const char* kKept = "keeps its value from call to call";
#define CHOOSE(condition)                   \
  "  if (" condition                        \
  ") { bad<<<1, N>>>(x, y, N); return; }\n" \
  "  good<<<1, N>>>(x, y, N);\n"

TEST(KeptValues, AreLeftToTheRecorder) {
  const Stateful rows[] = {
      {"", "  static int n = 0;\n" CHOOSE("n++ > 6"), kKept},
      {"", "  static int n;\n  ++n;\n" CHOOSE("n > 6"), kKept},
      {"", "  int static n = 0;\n" CHOOSE("++n > 6"), kKept},
      {"", "  auto static n = 0;\n" CHOOSE("++n > 6"), kKept},
      {"", "  thread_local int n = 0;\n" CHOOSE("++n > 6"), kKept},
      {"", "  static thread_local int n = 0;\n" CHOOSE("++n > 6"), kKept},
      {"", "  static bool first = true;\n" CHOOSE("!first") "  first = false;\n", kKept},
      {"", "  static const int first = N;\n" CHOOSE("N != first"), kKept},
      {"", "  static int& n = *new int(0);\n" CHOOSE("++n > 6"), ""},
      {"", "  static int a[1] = {0};\n" CHOOSE("a[0]++ > 6"), kKept},
      {"", "  static int* n = nullptr;\n" CHOOSE("n != nullptr"), kKept},
      {"",
       "  for (static int n = 0; n < 1; ++n) bad<<<1, N>>>(x, y, N);\n  good<<<1, N>>>(x, y, N);\n",
       kKept},
      {"", "  if (static int n = 0; n++ > 6) bad<<<1, N>>>(x, y, N);\n  good<<<1, N>>>(x, y, N);\n",
       kKept},
      {"static int n = 0;\n", CHOOSE("++n > 6"), kKept},
      {"int n;\n", CHOOSE("n++ > 6"), kKept},
      {"inline int n = 0;\n", CHOOSE("n++ > 6"), kKept},
      {"thread_local int n = 0;\n", CHOOSE("n++ > 6"), kKept},
      {"namespace { int n = 0; }\n", CHOOSE("n++ > 6"), kKept},
      {"int n = 0;\nint& again = n;\n", CHOOSE("again++ > 6"), kKept},
      {"int n = 0;\nint* const p = &n;\n", CHOOSE("(*p)++ > 6"), kKept},
      {"int n = 0;\n", "  int& r = n;\n" CHOOSE("r++ > 6"), kKept},
      {"int n = 0;\n", "  int* r = &n;\n" CHOOSE("(*r)++ > 6"), kKept},
      {"int next() { static int n = 0; return ++n; }\n", CHOOSE("next() > 6"), kKept},
      {"int next() { static int n = 0; return ++n; }\nconst int start = next();\n",
       CHOOSE("start > 1"), kKept},
      {"", "  auto next = [] { static int n = 0; return ++n; };\n" CHOOSE("next() > 6"), kKept},
      {"#define STATE static int n = 0\n", "  STATE;\n" CHOOSE("n++ > 6"), kKept},
      {"#define KEEP static\n", "  KEEP int n = 0;\n" CHOOSE("n++ > 6"), kKept},
      {"struct S { static int n; };\nint S::n = 0;\n", CHOOSE("S::n++ > 6"), kKept},
      {"struct S { inline static int n = 0; };\n", CHOOSE("++S::n > 6"), "S::n"},
      {"struct S { int n = 0; };\nS state;\n", CHOOSE("state.n++ > 6"), kKept},
      {"namespace a { int n = 0; }\n", CHOOSE("a::n++ > 6"), kKept},
      {"extern int n;\n", CHOOSE("n > 6"), kKept},
      {"", "  extern int n;\n" CHOOSE("n > 6"), kKept},
      {"static float* space = nullptr;\n",
       "  if (!space) cudaMalloc(&space, 4 * N);\n  good<<<1, N>>>(x, space, N);\n"
       "  good<<<1, N>>>(space, y, N);\n",
       kKept},
      {"static const char* mode = \"a\";\n", CHOOSE("mode != nullptr"), kKept},
  };
  for (const Stateful& row : rows)
    EXPECT_NE(problems_with(row.before, row.body).find(row.problem), std::string::npos)
        << row.before << row.body << "gives " << problems_with(row.before, row.body);
  for (const Stateful& row : rows)
    EXPECT_NE(problems_with(row.before, row.body), "") << row.before << row.body;
}

TEST(KeptValues, ConstantsAreFollowed) {
  const Stateful rows[] = {
      {"static const int kBlock = 64;\n", "  good<<<N / kBlock, kBlock>>>(x, y, N);\n", ""},
      {"constexpr int kBlock = 64;\nstatic constexpr int kTwice = 2 * kBlock;\n",
       "  good<<<N, kTwice>>>(x, y, N);\n", ""},
      {"inline constexpr int kBlock = 64;\n", "  good<<<N, kBlock>>>(x, y, N);\n", ""},
      {"namespace { const int kBlock = 64; }\n", "  good<<<N, kBlock>>>(x, y, N);\n", ""},
      {"", "  static const int block = 64;\n  good<<<N, block>>>(x, y, N);\n", ""},
      {"", "  static constexpr int block = 64;\n  good<<<N, block>>>(x, y, N);\n", ""},
      {"static const int kTable[] = {1, 2, 3};\n", "  good<<<N, 1>>>(x, y, N);\n", ""},
      {"static int sms() { int n = 0; cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, "
       "0);"
       " return n; }\n",
       "  static const int count = sms();\n  good<<<count, 1>>>(x, y, N);\n", ""},
      {"static cudaStream_t stream;\n", "  good<<<N, 1, 0, stream>>>(x, y, N);\n", ""},
      {"static int unused = 0;\n", "  good<<<N, 1>>>(x, y, N);\n", ""},
  };
  for (const Stateful& row : rows)
    EXPECT_EQ(problems_with(row.before, row.body), "") << row.before << row.body;
}

TEST(KeptValues, CodeThatRunsUnseenIsAProblem) {
  const Stateful rows[] = {
      {"struct Last { const float* x; float* y; ~Last() { bad<<<1, 1>>>(x, y, 1); } };\n",
       "  Last last{x, y};\n  good<<<1, N>>>(x, y, N);\n", "an object of the class 'Last'"},
      {"struct Last { void go(const float* x, float* y) { bad<<<1, 1>>>(x, y, 1); } };\n",
       "  good<<<1, N>>>(x, y, N);\n  Last().go(x, y);\n", ""},
      {"struct Last { ~Last() {} };\n",
       "  std::unique_ptr<Last> last;\n  good<<<1, N>>>(x, y, N);\n", "class 'Last'"},
      {"", "  good<<<1, N>>>(x, y, N);\n  std::thread t([&] { bad<<<1, N>>>(x, y, N); });\n",
       "'std::thread' is not followed"},
      {"void f(const float* x, float* y) { bad<<<1, 1>>>(x, y, 1); }\n",
       "  void (*go)(const float*, float*) = f;\n  good<<<1, N>>>(x, y, N);\n  go(x, y);\n", ""},
      {"void f(int a, const float* x, float* y) { good<<<1, 1>>>(x, y, 1); }\n"
       "void f(long a, const float* x, float* y) { bad<<<1, 1>>>(x, y, 1); }\n",
       "  f(1L, x, y);\n", "several functions 'f'"},
      {"", "  int n = 0;\n  memset(&n, 1, 4);\n" CHOOSE("n != 0"), "memset"},
      {"", "  int n = 0;\n  N > 4 ? (n = 1) : (n = 2);\n" CHOOSE("n == 1"),
       "not always evaluated changes something"},
      {"", "  int n = 0;\n  if (N > 4 && (n = 1)) return;\n" CHOOSE("n == 1"),
       "not always evaluated changes something"},
      {"", "  int n = 1;\n  auto f = [=] { return n; };\n  n = 2;\n" CHOOSE("f() == 1"),
       "changes after a lambda"},
      {"", "  int d = 0;\n  cudaGetDevice(&d);\n" CHOOSE("d != 0"), "the number of the device"},
      {"",
       "  if (cudaEventQuery(0) != cudaSuccess) bad<<<1, N>>>(x, y, N);\n"
       "  else good<<<1, N>>>(x, y, N);\n",
       "cudaEventQuery"},
      {"",
       "  cudaError_t e = cudaFuncSetAttribute(good, cudaFuncAttributeMaxDynamicSharedMemorySize, "
       "1 << 30);\n" CHOOSE("e != cudaSuccess"),
       "launched where a call of the runtime fails"},
      {"int f() {\n#if 1\n  return 1;\n#else\n  return 2;\n#endif\n}\n", CHOOSE("f() == 1"),
       "conditional compilation"},
      {"", "  if (getenv(\"USER\")) bad<<<1, N>>>(x, y, N);\n  good<<<1, N>>>(x, y, N);\n",
       "a condition cannot be followed"},
  };
  for (const Stateful& row : rows) {
    EXPECT_NE(problems_with(row.before, row.body).find(row.problem), std::string::npos)
        << row.before << row.body << "gives " << problems_with(row.before, row.body);
    EXPECT_NE(problems_with(row.before, row.body), "") << row.before << row.body;
  }
}

}  // namespace
}  // namespace kw::cuda_import
