// How the host's numbers, references, loops and calls are read: the launch's last number, or the
// problem. tests/foreign_tier/host_code_test.py compares many more with a compiler.
#include <gtest/gtest.h>

#include "core/text.h"
#include "cuda_import/import.h"
#include "cuda_import/term_range.h"

namespace kw::cuda_import {
namespace {

struct HostRow {
  const char* before;
  const char* body;
  const char* said;  // in the plan, or in a problem
};

Imported import_row(const HostRow& row) {
  ImportRequest request;
  request.text =
      std::string("__global__ void k(const float* x, float* y, int n, long long m) {}\n") +
      row.before + "\nextern \"C\" void solve(const float* x, float* y, int N) {\n" + row.body +
      "\n}\n";
  request.file_name = "solve.cu";
  request.task = "host";
  request.given = {{"x", tensor::DType::Fp32, {"N"}}, {"y", tensor::DType::Fp32, {"N"}}};
  return import_launcher(request);
}

std::string said_about(const HostRow& row) {
  const Imported imported = import_row(row);
  std::string out = imported.module.substr(0, imported.module.find("__global__"));
  for (const cuda_source::Diagnostic& one : imported.problems) out += one.message + "\n";
  return out;
}

#define LAUNCH " k<<<1, 32>>>(x, y, N, m);"
#define GIVES(value) "args(x, y, N, " value ")"

class HostCode : public testing::TestWithParam<HostRow> {};

TEST_P(HostCode, IsReadAsCpp) {
  const std::string said = said_about(GetParam());
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << GetParam().before << "\n"
                                                           << GetParam().body << "\ngives\n"
                                                           << said;
}

INSTANTIATE_TEST_SUITE_P(
    Integers, HostCode,
    testing::Values(
        HostRow{"", "unsigned char c = 300; long long m = c;" LAUNCH, GIVES("44")},
        HostRow{"", "unsigned char c = N; long long m = c;" LAUNCH,
                "a number of type 'unsigned char' that may be out of its range"},
        HostRow{"typedef short id;", "id c = N * 100; long long m = c;" LAUNCH, "of type 'short'"},
        HostRow{"", "bool b = N; long long m = b + b;" LAUNCH, GIVES("(N != 0) + (N != 0)")},
        HostRow{"", "long long m = N - sizeof(float) * 64;" LAUNCH,
                "of type 'size_t' that may be negative"},
        HostRow{"", "if (N < 256) return; size_t m = N - sizeof(float) * 64;" LAUNCH,
                "when    N >= 256\n"},
        HostRow{"", "size_t m = (N - 1u) / 256;" LAUNCH, "when    N - 1 >= 0\n"},
        HostRow{"", "int n = N * N; long long m = n;" LAUNCH, "when    N * N <= 2147000000\n"},
        HostRow{"", "unsigned u = N; long long m = u * u;" LAUNCH, "when    N * N <= 4294000000\n"},
        HostRow{"", "long long m = N > 5 ? N * N : 1;" LAUNCH,
                "when    N <= 5 || N * N <= 2147000000\n"},
        HostRow{"", "long long m = (N - 100) >> 3;" LAUNCH, "that may be negative"},
        HostRow{"", "long long m = (N - 100) & 7;" LAUNCH, "'&' of numbers"},
        HostRow{"", "long long m = (N + 31) & ~31;" LAUNCH, GIVES("(N + 31) / 32 * 32")},
        HostRow{"", "long long m = -1u;" LAUNCH, GIVES("4294967295")},
        HostRow{"", "long long m = true ? -1 : 1u;" LAUNCH, GIVES("4294967295")},
        HostRow{"", "long long m = 0xffffffff + 1;" LAUNCH, GIVES("0")},
        HostRow{"", "long long m = -1 < 1u;" LAUNCH, GIVES("0")},
        HostRow{"", "long long m = 2147483647 + 1;" LAUNCH, "does not fit 'int'"},
        HostRow{"", "long long m = 1 << 32;" LAUNCH, "more than the bits of its type"},
        HostRow{"",
                "int c = 0; for (unsigned char i = 250; i != 4; ++i) c++; long long m = c;" LAUNCH,
                GIVES("10")},
        HostRow{"unsigned char f(unsigned char v) { return v + 250; }",
                "long long m = f(300);" LAUNCH, GIVES("38")},
        HostRow{"template <unsigned char V> int f() { return V - 1; }",
                "long long m = f<0>();" LAUNCH, GIVES("-1")},
        HostRow{"#define int short", "long long m = 1;" LAUNCH, "gives 'int' another meaning"}));

INSTANTIATE_TEST_SUITE_P(
    References, HostCode,
    testing::Values(
        HostRow{"", "int a = 2; int& r = a; r = 1; long long m = a;" LAUNCH, GIVES("1")},
        HostRow{"", "int a = 2; const int& r = a; a = 7; long long m = r;" LAUNCH, GIVES("7")},
        HostRow{"", "int a = 2, b = 5; const int& r = std::min(a, b); long long m = r;" LAUNCH,
                "the reference 'r' is not followed"},
        HostRow{"", "int a = 2; auto f = [&r = a] { r = 1; }; f(); long long m = a;" LAUNCH,
                "a capture with a value of its own"},
        HostRow{"int& f(int& v) { return v; }", "int a = 2; f(a) = 1; long long m = a;" LAUNCH,
                "a function that returns a reference"},
        HostRow{"", "int a = 2; int* p = &a; int** q = &p; **q = 1; long long m = a;" LAUNCH,
                "an assignment cannot be followed"},
        HostRow{"", "dim3 g(1), &h = g; h.x = 3; k<<<g, 32>>>(x, y, N, 1);", "grid(3)"},
        HostRow{"", "int a = 2; auto f = [&](int& r) { r = a + 5; }; f(a); long long m = a;" LAUNCH,
                GIVES("7")},
        HostRow{"",
                "int a = 2; auto f = [&] { return a; }; long long m; { int a = 9; m = f(); "
                "(void)a; }" LAUNCH,
                GIVES("2")},
        HostRow{"", "int a = 2; long long m = a++ + a;" LAUNCH, "one operand changes what"}));

INSTANTIATE_TEST_SUITE_P(
    Flow, HostCode,
    testing::Values(
        HostRow{"", "for (int i = 0; i < 2 && i < N; ++i) k<<<1, 32>>>(x, y, N, i);",
                "how often this loop runs depends on the shape"},
        HostRow{"", "for (int i = 0; i < N % 4; ++i) { k<<<1, 32>>>(x, y, N, i); break; }",
                "this loop ends before its count"},
        HostRow{"", "for (int i = 0; i < (N >> 2); ++i) k<<<1, 32>>>(x, y, N, i);",
                "repeat  i in 0..N / 4"},
        HostRow{"", "for (unsigned char i = 250; i < N; ++i) k<<<1, 32>>>(x, y, N, i);",
                "the type of this loop's variable may not hold its bound"},
        HostRow{"", "int m = 0; switch (2) { case 1: if (N > 0) { case 2: m = 4; } }" LAUNCH,
                "a label inside another statement"},
        HostRow{"int f(int n) { if (n > 5) throw 3; return 0; }",
                "int m = 0; try { m = f(N); } catch (int) { m = 1; }" LAUNCH, "is caught"}));

INSTANTIATE_TEST_SUITE_P(
    Floats, HostCode,
    testing::Values(
        HostRow{"", "long long m = 0.1f + 0.2f == 0.3f;" LAUNCH, GIVES("1")},
        HostRow{"", "long long m = 0.1 + 0.2 == 0.3;" LAUNCH, GIVES("0")},
        HostRow{"", "float f = 0.1; long long m = f != 0.1;" LAUNCH, GIVES("1")},
        HostRow{"", "long long m = ceil((float)N / 256);" LAUNCH, "when    N <= 16777216\n"},
        HostRow{"", "long long m = ceil(N / 256.0);" LAUNCH, GIVES("ceil_div(N, 256)")},
        HostRow{"", "long long m = N / 256.0f + 0.5f;" LAUNCH, "floating-point arithmetic"}));

INSTANTIATE_TEST_SUITE_P(
    Calls, HostCode,
    testing::Values(
        HostRow{"", "int m = cudaPeekAtLastError() == cudaSuccess ? 0 : 1;" LAUNCH,
                "a choice by the outcome of a call"},
        HostRow{"", "int m = cudaGetLastError();" LAUNCH, "made of the outcome of a call"},
        HostRow{"", "int m = 0; if (cudaGetLastError() != cudaSuccess) m = 1;" LAUNCH,
                "decides more than whether the call continues"},
        HostRow{"",
                "int m = 0; k<<<1, 32>>>(x, y, N, m); if (cudaGetLastError() == cudaSuccess) "
                "return;" LAUNCH,
                "decides more than whether the call continues"},
        HostRow{"", "float t = 0; cudaEventElapsedTime(&t, a, b); int m = t > 1.0f;" LAUNCH,
                "what 'cudaEventElapsedTime' writes"},
        HostRow{"", "float* p = nullptr; cudaMalloc(&p, 4); int m = p == nullptr;" LAUNCH,
                "made of the outcome of a call"},
        HostRow{"", "int m = x == y;" LAUNCH, "made of the outcome of a call"},
        HostRow{"bool ready(float** p) { return cudaMalloc(p, 4) == cudaSuccess; }",
                "float* p = nullptr; if (!ready(&p)) return; int m = 3;" LAUNCH, GIVES("3")},
        HostRow{"", "int m = 2; if (x == nullptr || y == nullptr) return;" LAUNCH, GIVES("2")},
        HostRow{"",
                "float* p = nullptr; cudaMalloc(&p, 4); int m = 2;" LAUNCH " if (p) cudaFree(p);",
                GIVES("2")}));

TEST(TermRange, FollowsComparisons) {
  const TermRef n = named("N", {0, 1000}, true);
  const TermRef rest = make_term(TermOp::Subtract, {n, number(100)});
  EXPECT_EQ(rest->range.low, -100);
  EXPECT_EQ(rest->range.high, 900);
  Facts facts;
  facts.add(make_term(TermOp::And, {make_term(TermOp::GreaterEqual, {n, number(100)}),
                                    make_term(TermOp::Less, {n, number(200)})}));
  EXPECT_EQ(range_of(*rest, facts).low, 0);
  EXPECT_EQ(range_of(*rest, facts).high, 99);
  const TermRef share = make_term(TermOp::Divide, {n, number(3)});
  EXPECT_EQ(make_term(TermOp::Subtract, {n, share})->range.low, 0);
  EXPECT_EQ(make_term(TermOp::Remainder, {rest, number(8)})->range.low, -7);
  EXPECT_EQ(make_term(TermOp::Multiply, {n, rest})->range.high, 900000);
  EXPECT_EQ(make_term(TermOp::CeilDiv, {n, number(3)})->range.high, 334);
}

}  // namespace
}  // namespace kw::cuda_import
