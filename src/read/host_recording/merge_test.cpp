#include "host_recording/merge.h"

#include <gtest/gtest.h>

namespace kw::host_recording {
namespace {

std::string text(const std::string& version, const std::string& target, const std::string& body) {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + body;
}
constexpr const char* kShared = ".extern .shared .align 16 .b8 global_smem[];\n";

TEST(MergePtx, SharedDeclarationsStandOnce) {
  const Result<std::string> made = merge_ptx(
      {text("8.3", "sm_90a", std::string(kShared) + ".entry a()\n{\n.shared .b8 q[4];\n}\n"),
       text("8.5", "sm_90a", std::string(kShared) + ".entry b()\n{\n.shared .b8 q[8];\n}\n")});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->rfind(".version 8.5\n.target sm_90a\n", 0), 0u);
  EXPECT_EQ(made->find("global_smem"), made->rfind("global_smem"));
  EXPECT_NE(made->find(".entry a"), std::string::npos);
  EXPECT_NE(made->find("q[8]"), std::string::npos);
}

TEST(MergePtx, TemplatesStandOnceAndLinesGo) {
  const std::string kernel =
      ".visible .entry t(\n.param .u64 t_0\n)\n{\n.loc 1 2 3\nbra "
      "$L__BB0_2;\n$L__BB0_2:\nret;\n}\n";
  std::string other = kernel;
  for (size_t at = other.find("BB0_"); at != std::string::npos; at = other.find("BB0_"))
    other.replace(at, 4, "BB7_");
  const std::string section = ".section .debug_str\n{\n.b8 1\n}\n.file 1 \"a.cu\"\n";
  const Result<std::string> made =
      merge_ptx({text("8.3", "sm_90", kernel + section),
                 text("8.3", "sm_90", other + ".visible .entry u()\n{\nret;\n}\n" + section)});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->find(".entry t("), made->rfind(".entry t("));
  EXPECT_NE(made->find(".entry u("), std::string::npos);
  for (const char* gone : {".loc", ".file", ".section", ".b8 1", "BB7"})
    EXPECT_EQ(made->find(gone), std::string::npos) << gone;
  other.replace(other.find("ret"), 3, "exit");
  EXPECT_FALSE(merge_ptx({text("8.3", "sm_90", kernel), text("8.3", "sm_90", other)}));
}

TEST(MergePtx, AnArchitecturesOwnInstructionsRunBesideOthers) {
  const std::string plain = text("8.3", "sm_90", ".entry a()\n{\nret;\n}\n"),
                    own = text("8.6", "sm_90a", ".entry b()\n{\nret;\n}\n");
  for (const auto& texts : {std::vector{plain, own}, std::vector{own, plain}}) {
    const Result<std::string> made = merge_ptx(texts);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->rfind(".version 8.6\n.target sm_90a\n", 0), 0u);
  }
  EXPECT_FALSE(merge_ptx({text("8.3", "sm_100", ""), own}));
}

TEST(MergePtx, SaysWhatDoesNotGoTogether) {
  EXPECT_FALSE(merge_ptx({}));
  EXPECT_FALSE(merge_ptx({text("8.3", "sm_90", ""), text("8.3", "sm_80", "")}));
  EXPECT_FALSE(merge_ptx(
      {text("8.3", "sm_90", ".global .b8 t[4];\n"), text("8.3", "sm_90", ".global .b8 t[8];\n")}));
}

}  // namespace
}  // namespace kw::host_recording
