#include "core/diff.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/text.h"

namespace kw {
namespace {

struct Case {
  const char* name;
  std::string before, after, want;
};

class Diff : public testing::TestWithParam<Case> {};

TEST_P(Diff, SaysWhatChanged) {
  EXPECT_EQ(unified_diff(GetParam().before, GetParam().after, "a", "b", 1), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Diff,
    testing::Values(Case{"equal", "x\ny\n", "x\ny\n", ""}, Case{"both_empty", "", "", ""},
                    Case{"from_nothing", "", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n"},
                    Case{"to_nothing", "x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n"},
                    Case{"changed_line", "1\n2\n3\n4\n5\n", "1\n2\nX\n4\n5\n",
                         "--- a\n+++ b\n@@ -2,3 +2,3 @@\n 2\n-3\n+X\n 4\n"},
                    Case{
                        "two_hunks", "1\n2\n3\n4\n5\n6\n7\n", "X\n2\n3\n4\n5\n6\nY\n",
                        "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-1\n+X\n 2\n@@ -6,2 +6,2 @@\n 6\n-7\n+Y\n"},
                    Case{"near_changes_share_a_hunk", "1\n2\n3\n4\n", "X\n2\n3\nY\n",
                         "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-1\n+X\n 2\n 3\n-4\n+Y\n"},
                    Case{"newline_at_the_end", "x", "x\n",
                         "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"}),
    [](const auto& test) { return std::string(test.param.name); });

// For any texts: without the added lines the diff gives the first text. Without the removed lines
// it gives the second.
TEST(DiffOfAnything, HoldsBothTexts) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string before, after;
    const auto letters = 1 + random() % 4;
    for (auto n = random() % 40; n > 0; --n)
      before += std::string(1, 'a' + random() % letters) + "\n";
    for (auto n = random() % 40; n > 0; --n)
      after += std::string(1, 'a' + random() % letters) + "\n";
    if (before == after) continue;
    std::string first, second;
    const std::string text = unified_diff(before, after, "a", "b", 1000);
    const std::vector<std::string_view> lines = split_lines(text);
    for (size_t i = 3; i < lines.size(); ++i) {
      const std::string line = std::string(lines[i].substr(1)) + "\n";
      if (lines[i][0] != '+') first += line;
      if (lines[i][0] != '-') second += line;
    }
    EXPECT_EQ(first, before);
    EXPECT_EQ(second, after);
  }
}

TEST(DiffOfAnything, GivesUpOnTextsWithNothingInCommon) {
  std::string before, after;
  for (int i = 0; i < 3000; ++i) before += "a" + std::to_string(i) + "\n";
  for (int i = 0; i < 3000; ++i) after += "b" + std::to_string(i) + "\n";
  EXPECT_EQ(split_lines(unified_diff(before, after, "a", "b")).size(), 6003u);
}

}  // namespace
}  // namespace kw
