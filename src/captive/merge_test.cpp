#include "captive/merge.h"

#include <gtest/gtest.h>

namespace kw::captive {
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

TEST(MergePtx, SaysWhatDoesNotGoTogether) {
  EXPECT_FALSE(merge_ptx({}));
  EXPECT_FALSE(merge_ptx({text("8.3", "sm_90", ""), text("8.3", "sm_80", "")}));
  EXPECT_FALSE(merge_ptx(
      {text("8.3", "sm_90", ".global .b8 t[4];\n"), text("8.3", "sm_90", ".global .b8 t[8];\n")}));
}

}  // namespace
}  // namespace kw::captive
