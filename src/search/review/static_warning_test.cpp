#include "review/static_warning.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <iterator>

#include "core/random.h"
#include "review/corpus.h"
#include "review/metrics.h"
#include "review/shown.h"

namespace kw::review {
namespace {

std::string module_of(const std::string& body) {
  return "__global__ void k(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * 128 + threadIdx.x;\n" +
         body + "}\n";
}

struct BodyCase {
  const char* name;
  const char* body;
  bool suspicious;
};

class WarnedBodies : public testing::TestWithParam<BodyCase> {};

TEST_P(WarnedBodies, AreSuspectedForTheirSums) {
  const std::vector<StaticWarning> found = static_warnings(module_of(GetParam().body));
  EXPECT_EQ(!found.empty(), GetParam().suspicious) << (found.empty() ? "" : found[0].what);
}

INSTANTIATE_TEST_SUITE_P(
    All, WarnedBodies,
    testing::Values(
        BodyCase{"unguarded_index", "  y[i] = x[i + 1];\n", false},
        BodyCase{"sum_of_exponentials", "  float s = 0;\n  if (i < n) s += expf(x[i]);\n", true},
        BodyCase{"sum_of_exponentials_by_name",
                 "  float s = 0;\n  if (i < n) { const float e = __expf(x[i] * 2); s += e; }\n",
                 true},
        BodyCase{"stable_sum", "  float s = 0;\n  if (i < n) s += expf(x[i] - x[0]);\n", false},
        BodyCase{"exponential", "  if (i < n) y[i] = expf(x[i]);\n", false},
        BodyCase{"sum_in_half", "  __half s = 0;\n  if (i < n) s += x[i];\n", true},
        BodyCase{"half_that_is_not_summed", "  __half s = 0;\n  if (s == x[i]) y[i] = s;\n", false},
        BodyCase{"half_and_back", "  y[i] = __half2float(__float2half(x[i]));\n", true},
        BodyCase{"pointer_in_the_argument", "  float s = 0;\n  s += expf(p->value);\n", true},
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
    static_warnings(
        module_of("  y[0] = " + repeated(piece, 5000) + "\n  " + repeated(piece, 5000)));
  static_warnings(module_of("  y[0] = 0" + repeated(" + (i * 2 - 1)", 20000) + ";\n"));
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
    static_warnings(text);
    EXPECT_FALSE(shown_module(text).empty());
  }
}

TEST(Suspicions, NeverReachNothing) {
  EXPECT_EQ(static_warning_score({}), 1);
  EXPECT_LT(static_warning_score({{}}), 1);
  EXPECT_GT(static_warning_score(std::vector<StaticWarning>(50)), 0);
}

TEST(Suspicions, AreRareAmongRightModules) {
  Confusion numerics;
  std::string alarms;
  for (const CorpusEntry& entry : shipped_corpus().entries) {
    const std::vector<StaticWarning> found = static_warnings(entry.module);
    const bool right = entry.right;
    numerics.add(right, entry.defensive(), found.empty() ? ReviewCall::Right : ReviewCall::Wrong);
    if (right && !found.empty())
      alarms += fmt::format("{} line {}: {}\n", entry.id, found[0].line, found[0].what);
  }
  RecordProperty("scores", confusion_text(numerics));
  EXPECT_GE(numerics.precision(), 0.9) << confusion_text(numerics) << "\n" << alarms;
  EXPECT_GE(numerics.caught, 10) << confusion_text(numerics);
  EXPECT_LE(numerics.careful, 1) << alarms;
}

}  // namespace
}  // namespace kw::review
