#include "catalog/catalog.h"

#include <gtest/gtest.h>

#include <set>

namespace kw::catalog {
namespace {

TEST(Catalog, EveryRowIsWellFormedAndUnique) {
  std::set<std::string> seen;
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.id);
    EXPECT_TRUE(seen.insert(method.id).second) << "twice in the table";
    EXPECT_EQ(method.id.rfind(method.axis + ".", 0), 0u) << "an id starts with its axis";
    EXPECT_TRUE(method.axis == "compute" || method.axis == "memory" || method.axis == "latency");
    EXPECT_FALSE(method.title.empty());
    EXPECT_EQ(method.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_."),
              std::string::npos);
  }
  EXPECT_EQ(seen.size(), 75u);
}

TEST(Catalog, FindsById) {
  ASSERT_NE(find("memory.vectorized_access"), nullptr);
  EXPECT_EQ(find("memory.vectorized_access")->axis, "memory");
  EXPECT_EQ(find("memory.vectorised_access"), nullptr);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(ids().size(), methods().size());
}

}  // namespace
}  // namespace kw::catalog
