#include "evolve/page.h"

#include <gtest/gtest.h>

namespace kw::evolve {
namespace {

ComparedRun compared(const std::string& name, std::initializer_list<std::pair<int, double>> best) {
  Json curve = Json::array();
  for (const auto& [proposals, us] : best)
    curve.push(Json::object().set("proposals", proposals).set("us", us).set("measured", true));
  Json summary = Json::object();
  summary.set("proposals_made", 16).set("measured", true).set("curve", std::move(curve));
  return {name, std::move(summary)};
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(ComparisonPage, IsWholeInItself) {
  const std::string page = comparison_page(
      "a <b> & c", {compared("base", {{1, 10}, {5, 8}}), compared("all \"on\"", {{2, 9}})});
  EXPECT_EQ(page.find("<script"), std::string::npos);
  for (const char* outside : {"http", "src=", "href=", "url(", "@import"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(count_of(page, "<path "), 2u);
  EXPECT_EQ(count_of(page, "<table>"), 2u);
  EXPECT_NE(page.find("<h1>a &lt;b&gt; &amp; c</h1>"), std::string::npos);
  EXPECT_NE(page.find("all &quot;on&quot;"), std::string::npos);
  EXPECT_EQ(page.find("estimates"), std::string::npos);
}

// The best stays until the next change: a horizontal line, a vertical one, a line to the end.
TEST(ComparisonPage, CurvesAreSteps) {
  const std::string page = comparison_page("t", {compared("one", {{0, 10}, {8, 5}})});
  const size_t at = page.find("<path d='M78.0,");
  ASSERT_NE(at, std::string::npos);
  const std::string path = page.substr(at, page.find('>', at) - at);
  EXPECT_EQ(count_of(path, "H459.0V"), 1u) << path;
  EXPECT_EQ(count_of(path, "H840.0"), 1u) << path;
}

TEST(ComparisonPage, SaysWhoHasNoKernelAndWhatIsAnEstimate) {
  ComparedRun no_kernel = compared("nobody", {});
  no_kernel.summary.set("measured", false);
  const std::string page = comparison_page("t", {no_kernel});
  EXPECT_NE(page.find("nobody (no kernel)"), std::string::npos);
  EXPECT_NE(page.find("these are estimates, not times"), std::string::npos);
  EXPECT_EQ(count_of(page, "<path "), 0u);
}

}  // namespace
}  // namespace kw::evolve
