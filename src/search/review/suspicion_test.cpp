#include "review/suspicion.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <iterator>

#include "core/random.h"
#include "review/corpus.h"
#include "review/interval.h"
#include "review/metrics.h"
#include "review/shown.h"

namespace kw::review {
namespace {

TEST(Intervals, HoldEveryValue) {
  const char* signs[] = {"+", "-", "*", "/", "%", "<<", ">>", "&"};
  for (const char* sign : signs) {
    for (int64_t a = -3; a <= 3; ++a) {
      for (int64_t b = a; b <= 4; b += 3) {
        for (int64_t c = -2; c <= 3; ++c) {
          for (int64_t d = c; d <= 4; d += 2) {
            const Interval out = combine(sign, Interval::between(a, b), Interval::between(c, d));
            for (int64_t x = a; out.known && x <= b; ++x) {
              for (int64_t y = c; y <= d; ++y) {
                const std::string_view word = sign;
                if ((word == "/" || word == "%") && y == 0) continue;
                const int64_t value = word == "+"    ? x + y
                                      : word == "-"  ? x - y
                                      : word == "*"  ? x * y
                                      : word == "/"  ? x / y
                                      : word == "%"  ? x % y
                                      : word == "<<" ? x * (int64_t{1} << y)
                                      : word == ">>" ? x >> y
                                                     : x & y;
                EXPECT_GE(value, out.low) << x << sign << y;
                EXPECT_LE(value, out.high) << x << sign << y;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Intervals, StayFarFromOverflow) {
  const Interval far = Interval::between(-INT64_MAX, INT64_MAX);
  EXPECT_FALSE(multiply(far, far).bounded());
  EXPECT_FALSE(add(far, far).bounded());
  EXPECT_FALSE(Interval{}.bounded());
}

std::string module_of(const std::string& body, const std::string& grid = "ceil_div(N, 128)") {
  return "//! kernelwright 1\n//! task t\n//! input x: fp32[N]\n//! output y: fp32[N]\n//! launch "
         "k "
         "grid(" +
         grid +
         ") block(128) args(x, y, N)\n"
         "__global__ void k(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * 128 + threadIdx.x;\n" +
         body + "}\n";
}

struct BodyCase {
  const char* name;
  const char* body;
  bool suspicious;
};

class Bodies : public testing::TestWithParam<BodyCase> {};

TEST_P(Bodies, AreSuspectedForWhatTheyMayTouch) {
  const std::vector<Suspicion> found = suspicions(module_of(GetParam().body));
  EXPECT_EQ(!found.empty(), GetParam().suspicious) << (found.empty() ? "" : found[0].what);
}

INSTANTIATE_TEST_SUITE_P(
    All, Bodies,
    testing::Values(
        BodyCase{"guarded", "  if (i < n) y[i] = x[i];\n", false},
        BodyCase{"not_guarded", "  y[i] = x[i];\n", true},
        BodyCase{"one_too_many", "  if (i <= n) y[i] = x[i];\n", true},
        BodyCase{"next_one", "  if (i < n) y[i] = x[i + 1];\n", true},
        BodyCase{"early_return", "  if (i >= n) return;\n  y[i] = x[i];\n", false},
        BodyCase{"early_return_too_late", "  if (i > n) return;\n  y[i] = x[i];\n", true},
        BodyCase{"two_guards", "  if (i >= 0 && i < n) y[i] = x[i];\n", false},
        BodyCase{"either_guard", "  if (0 || i < n) { y[i] = x[i]; }\n", false},
        BodyCase{"turned_guard", "  if (n > i) { y[i] = x[i]; }\n", false},
        BodyCase{"clamped", "  const int j = i < n ? i : n - 1;\n  y[j] = x[j];\n", false},
        BodyCase{"guard_in_the_expression", "  y[min(i, n - 1)] = i < n ? x[i] : 0.0f;\n", false},
        BodyCase{"loop", "  for (int j = i; j < n; j += 128) y[j] = x[j];\n", false},
        BodyCase{"loop_too_far", "  for (int j = 0; j <= n; ++j) y[j] = x[j];\n", true},
        BodyCase{"loop_down", "  for (int j = n - 1; j >= 0; --j) y[j] = x[j];\n", false},
        BodyCase{"loop_below", "  for (int j = n - 1; j >= -1; --j) y[j] = x[j];\n", true},
        BodyCase{"negative", "  if (i < n) y[i] = x[i - 1];\n", true},
        BodyCase{"remainder", "  y[i % n] = 0.0f;\n", false},
        BodyCase{"shared", "  __shared__ float s[128];\n  s[threadIdx.x] = 0.0f;\n", false},
        BodyCase{"shared_too_small", "  __shared__ float s[64];\n  s[threadIdx.x] = 0.0f;\n", true},
        BodyCase{"shared_by_warp", "  __shared__ float s[4];\n  s[threadIdx.x / 32] = 0.0f;\n",
                 false},
        BodyCase{"shared_masked", "  __shared__ float s[32];\n  s[threadIdx.x & 31] = 0.0f;\n",
                 false},
        BodyCase{"shared_too_large", "  __shared__ double s[8192];\n  s[threadIdx.x] = 0.0;\n",
                 true},
        BodyCase{"never_taken", "  if (n < 0) y[-1] = 0.0f;\n", false},
        BodyCase{"unknown_index", "  y[__float2int_rn(x[0])] = 0.0f;\n", false},
        BodyCase{"changed_in_a_loop", "  int j = 0;\n  while (j < n) { y[j] = x[j]; j += 128; }\n",
                 false},
        BodyCase{"sum_of_exponentials", "  float s = 0;\n  if (i < n) s += expf(x[i]);\n", true},
        BodyCase{"sum_of_exponentials_by_name",
                 "  float s = 0;\n  if (i < n) { const float e = __expf(x[i] * 2); s += e; }\n",
                 true},
        BodyCase{"stable_sum", "  float s = 0;\n  if (i < n) s += expf(x[i] - x[0]);\n", false},
        BodyCase{"exponential", "  if (i < n) y[i] = expf(x[i]);\n", false},
        BodyCase{"sum_in_half", "  __half s = 0;\n  if (i < n) s += x[i];\n", true},
        BodyCase{"unfinished", "  if (i < n", false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Suspicions, SurviveDeepAndBrokenText) {
  const auto repeated = [](const std::string& one, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += one;
    return out;
  };
  for (const char* piece : {"(", "{", "[", "if (i < n) ", "for (int j = 0; j < n; ++j) ", "i ? ",
                            "-", "f<1>(", "while (1) ", "else ", "x[", "!"})
    suspicions(module_of("  y[0] = " + repeated(piece, 5000) + "\n  " + repeated(piece, 5000)));
  suspicions(module_of("  y[0] = 0" + repeated(" + (i * 2 - 1)", 20000) + ";\n"));
}

TEST(Suspicions, SurviveMangledModules) {
  const Corpus corpus = shipped_corpus();
  Random random(5);
  const std::string pieces[] = {"(",     ")", "{", "}",  "[",  "]",  ";", "if (",
                                "for (", "?", "<", ">=", "x[", "\"", "'"};
  for (int round = 0; round < 300; ++round) {
    std::string text = corpus.entries[random.below(corpus.entries.size())].module;
    const size_t device = text.rfind("//!");
    for (int change = 0; change < 4; ++change) {
      const size_t at = device + random.below(text.size() - device);
      if (random.below(2) == 0)
        text.erase(at, 1 + random.below(20));
      else
        text.insert(at, pieces[random.below(std::size(pieces))]);
    }
    suspicions(text);
    EXPECT_FALSE(shown_module(text).empty());
  }
}

TEST(Suspicions, NeverReachNothing) {
  EXPECT_EQ(suspicion_score({}), 1);
  EXPECT_LT(suspicion_score({{}}), 1);
  EXPECT_GT(suspicion_score(std::vector<Suspicion>(50)), 0);
}

TEST(Suspicions, AreRareAmongRightModules) {
  Confusion memory;
  std::string slandered;
  for (const Entry& entry : shipped_corpus().entries) {
    const std::vector<Suspicion> found = suspicions(entry.module);
    const bool right = entry.right;
    memory.add(right, entry.defensive(), found.empty() ? Call::Right : Call::Wrong);
    if (right && !found.empty())
      slandered += fmt::format("{} line {}: {}\n", entry.id, found[0].line, found[0].what);
  }
  RecordProperty("scores", confusion_text(memory));
  EXPECT_GE(memory.precision(), 0.9) << confusion_text(memory) << "\n" << slandered;
  EXPECT_GE(memory.caught, 40) << confusion_text(memory);
  EXPECT_LE(memory.careful, 1) << slandered;
}

}  // namespace
}  // namespace kw::review
