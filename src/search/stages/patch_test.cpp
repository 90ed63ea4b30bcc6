#include "stages/patch.h"

#include <gtest/gtest.h>

#include "core/diff.h"

namespace kw::stages {
namespace {

constexpr const char* kText = "one\ntwo\nthree\nfour\nfive\nsix\n";

struct PatchRow {
  const char* name;
  const char* diff;
  const char* after;  // nullptr: refused …
  const char* error;  // … with this in the message
};

class Patch : public testing::TestWithParam<PatchRow> {};

TEST_P(Patch, IsAppliedOrRefusedWithAReason) {
  const PatchRow& row = GetParam();
  const Result<std::string> after = apply_diff(kText, row.diff);
  if (row.after != nullptr) {
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(*after, row.after);
    return;
  }
  ASSERT_FALSE(after) << *after;
  EXPECT_EQ(after.error().blame, Blame::Input);
  EXPECT_NE(after.error().message.find(row.error), std::string::npos) << after.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Patch,
    testing::Values(
        PatchRow{"replaces", "--- a/x\n+++ b/x\n@@ -2,1 +2,1 @@\n-two\n+2\n",
                 "one\n2\nthree\nfour\nfive\nsix\n", ""},
        PatchRow{"with_context", "@@ -1,3 +1,4 @@\n one\n two\n+and a half\n three\n",
                 "one\ntwo\nand a half\nthree\nfour\nfive\nsix\n", ""},
        PatchRow{"wrong_line_numbers", "@@ -40,1 +40,1 @@\n-five\n+5\n",
                 "one\ntwo\nthree\nfour\n5\nsix\n", ""},
        PatchRow{"no_line_numbers", "@@\n-six\n+6\n", "one\ntwo\nthree\nfour\nfive\n6\n", ""},
        PatchRow{"two_hunks", "@@ -1 +1 @@\n-one\n+1\n@@ -6 +6 @@\n-six\n+6\n",
                 "1\ntwo\nthree\nfour\nfive\n6\n", ""},
        PatchRow{"blank_end", "@@ -6 +6 @@\n-six\n+6\n\n\n", "one\ntwo\nthree\nfour\nfive\n6\n",
                 ""},
        PatchRow{"deletes", "@@ -3,2 +3,0 @@\n-three\n-four\n", "one\ntwo\nfive\nsix\n", ""},
        PatchRow{"adds_at_a_line", "@@ -1,0 +1,1 @@\n+zero\n",
                 "zero\none\ntwo\nthree\nfour\nfive\nsix\n", ""},
        PatchRow{"no_newline_mark", "@@ -6 +6 @@\n-six\n\\ No newline at end of file\n+6\n",
                 "one\ntwo\nthree\nfour\nfive\n6\n", ""},
        PatchRow{"misfit", "@@ -2,2 +2,2 @@\n two\n-drei\n+3\n", nullptr,
                 "hunk 1 does not fit: it expects 'drei', but line 3 is 'three'"},
        PatchRow{"beyond_the_end", "@@ -6,2 +6,2 @@\n six\n-seven\n+7\n", nullptr,
                 "expects 'seven', but the text has ended"},
        PatchRow{"hunks_out_of_order", "@@ -6 +6 @@\n-six\n+6\n@@ -1 +1 @@\n-one\n+1\n", nullptr,
                 "hunk 2 does not fit"},
        PatchRow{"no_hunk", "--- a\n+++ b\n", nullptr, "has no hunk"},
        PatchRow{"bad_line", "@@ -1 +1 @@\n-one\n+1\nand so on\n", nullptr, "and so on"},
        PatchRow{"adds_nowhere", "@@\n+zero\n", nullptr, "does not say where"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(PatchParent, IsTheNameBehindTheMinuses) {
  EXPECT_EQ(diff_parent("--- a/0123456789abcdef\n+++ b/x\n@@\n"), "0123456789abcdef");
  EXPECT_EQ(diff_parent("--- 0123456789abcdef\t2026\n+++ b/x\n@@\n"), "0123456789abcdef");
  EXPECT_EQ(diff_parent("@@ -1 +1 @@\n-a\n+b\n"), "");
}

// apply_diff reads what unified_diff writes.
TEST(PatchRoundTrip, GivesTheOtherText) {
  const std::string before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
  const std::string after = "a\nB\nc\nd\ne\nf\ng\nh\ni\nk\nl\nm\n";
  const Result<std::string> made = apply_diff(before, unified_diff(before, after, "x", "y"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, after);
}

}  // namespace
}  // namespace kw::stages
