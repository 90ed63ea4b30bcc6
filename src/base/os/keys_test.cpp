#include <gtest/gtest.h>

#include <cstdlib>

#include "os/files.h"
#include "os/process.h"

namespace kw::os {
namespace {

TEST(KeyVariables, ReachNoChildThatIsNotTheUsersOwn) {
  ::setenv("KW_ENV_TEST_API_KEY", "secret-one", 1);
  ::setenv("KW_ENV_TEST_TOKEN", "secret-two", 1);
  ::setenv("KW_ENV_TEST_PLAIN", "harmless", 1);
  EXPECT_TRUE(is_key_variable("ANTHROPIC_API_KEY"));
  for (const char* name : {"ANTHROPIC_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD",
                           "github_token", "SSH_AUTH_SOCK", "AZURE_CLIENT_SECRET", "NPM_TOKEN"})
    EXPECT_TRUE(is_key_variable(name)) << name;
  for (const char* name : {"PATH", "PWD", "HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD", "MONKEY"})
    EXPECT_FALSE(is_key_variable(name)) << name;
  EXPECT_FALSE(is_key_variable("KW_ENV_TEST_WORD"));
  ::setenv("KW_ENV_TEST_WORD", "secret-three", 1);
  add_key_variables({"KW_ENV_TEST_WORD"});
  EXPECT_TRUE(is_key_variable("KW_ENV_TEST_WORD"));
  const auto seen = run_process({"env"});
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->out.find("secret-"), std::string::npos);
  EXPECT_NE(seen->out.find("harmless"), std::string::npos);
  ProcessLimits limits;
  limits.environment = Environment::Everything;
  const auto own = run_process({"env"}, {}, limits);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_NE(own->out.find("secret-one"), std::string::npos);
  EXPECT_NE(own->out.find("secret-two"), std::string::npos);
}

TEST(KeyVariables, OnlyWhatIsNeededReachesAConfinedProgram) {
  ::setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  ::setenv("LC_ALL", "C", 1);
  ::setenv("DATABASE_URL", "postgres://me:secret@host", 1);
  ::setenv("TORCH_API_KEY", "secret", 1);
  ProcessLimits limits;
  limits.environment = Environment::Needed;
  const auto seen = run_process({"env"}, {}, limits, {"HOME=/elsewhere"});
  ASSERT_TRUE(seen) << seen.error().message;
  for (const char* line : {"PATH=", "CUDA_VISIBLE_DEVICES=0\n", "LC_ALL=C\n", "HOME=/elsewhere\n"})
    EXPECT_NE(seen->out.find(line), std::string::npos) << line;
  EXPECT_EQ(seen->out.find("secret"), std::string::npos) << seen->out;
  ::unsetenv("DATABASE_URL");
}

TEST(KeyVariables, LeaveTheEnvironmentAndStayKnown) {
  ::setenv("KW_ENV_TEST_HIDDEN_KEY", "secret-four", 1);
  char* const text = ::getenv("KW_ENV_TEST_HIDDEN_KEY");
  hide_keys();
  EXPECT_EQ(::getenv("KW_ENV_TEST_HIDDEN_KEY"), nullptr);
  EXPECT_EQ(std::string(text, 11), std::string(11, '\0')) << "overwritten in place";
  EXPECT_EQ(env("KW_ENV_TEST_HIDDEN_KEY"), "secret-four");
  ::setenv("KW_ENV_TEST_LATER", "secret-five", 1);
  add_key_variables({"KW_ENV_TEST_LATER"});
  EXPECT_EQ(::getenv("KW_ENV_TEST_LATER"), nullptr) << "known as a key only now";
  const auto without = run_process({"env"});
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(without->out.find("secret-"), std::string::npos);
  ProcessLimits limits;
  limits.environment = Environment::Everything;
  const auto own = run_process({"env"}, {}, limits, {"KW_ENV_TEST_LATER=another"});
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_NE(own->out.find("KW_ENV_TEST_HIDDEN_KEY=secret-four\n"), std::string::npos);
  EXPECT_NE(own->out.find("KW_ENV_TEST_LATER=another\n"), std::string::npos);
  EXPECT_EQ(own->out.find("secret-five"), std::string::npos);
}

/// What a child of the same user can read of a parent that holds a key.
TEST(KeyVariables, CannotBeReadOffTheirOwner) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every process";
  ::setenv("KW_ENV_TEST_API_KEY", "secret-one", 1);
  hide_keys();
  const auto seen = run_process({"sh", "-c", "tr '\\0' '\\n' < /proc/$PPID/environ"});
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->out.find("secret-one"), std::string::npos);
}

}  // namespace
}  // namespace kw::os
