#include <gtest/gtest.h>

#include <cstdlib>

#include "os/process.h"

namespace kw::os {
namespace {

TEST(KeyVariables, ReachNoChildThatIsNotTheUsersOwn) {
  ::setenv("KW_KEYS_TEST_API_KEY", "secret-one", 1);
  ::setenv("KW_KEYS_TEST_TOKEN", "secret-two", 1);
  ::setenv("KW_KEYS_TEST_PLAIN", "no-secret", 1);
  EXPECT_TRUE(is_key_variable("ANTHROPIC_API_KEY"));
  EXPECT_FALSE(is_key_variable("KW_KEYS_TEST_TOKEN"));
  add_key_variables({"KW_KEYS_TEST_TOKEN"});
  EXPECT_TRUE(is_key_variable("KW_KEYS_TEST_TOKEN"));
  const auto seen = run_process({"env"});
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->out.find("secret-"), std::string::npos);
  EXPECT_NE(seen->out.find("no-secret"), std::string::npos);
  ProcessLimits limits;
  limits.with_keys = true;
  const auto own = run_process({"env"}, {}, limits);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_NE(own->out.find("secret-one"), std::string::npos);
  EXPECT_NE(own->out.find("secret-two"), std::string::npos);
}

}  // namespace
}  // namespace kw::os
