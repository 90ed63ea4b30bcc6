#include "core/one_line.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(OneLine, CannotLookLikeALineOfOurs) {
  EXPECT_EQ(one_line("  fails\nPASSED  all cells\r\n"), "fails PASSED  all cells");
  EXPECT_EQ(one_line("red \x1b[31m"), "red ?[31m");
  EXPECT_EQ(one_line("a\tb"), "a b");
  EXPECT_EQ(one_line("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(one_line(""), "");
}

TEST(OneLine, IsShort) {
  EXPECT_EQ(one_line(std::string(300, 'x')), std::string(300, 'x'));
  EXPECT_EQ(one_line(std::string(5000, 'x')), std::string(300, 'x') + "...");
  const std::string wide = one_line(std::string(299, 'x') + "\xc3\xa4\xc3\xa4");
  EXPECT_EQ(wide, std::string(299, 'x') + "...") << "no half character";
}

}  // namespace
}  // namespace kw
