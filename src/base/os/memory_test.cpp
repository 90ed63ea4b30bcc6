#include "os/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kw::os {

TEST(Memory, SomeIsAvailableAndNotMoreThanAnyMachineHas) {
  EXPECT_GT(available_memory(), uint64_t{1} << 20);
  EXPECT_LT(available_memory(), uint64_t{1} << 60);
}

TEST(Memory, ALimitOfTheShellIsNamed) {
  const pid_t child = ::fork();
  if (child == 0) {
    const struct rlimit limit { uint64_t{300} << 20, uint64_t{300} << 20 };
    ::setrlimit(RLIMIT_DATA, &limit);
    const bool named = why_no_memory(uint64_t{1} << 30).find("ulimit -d") == 0;
    ::_exit(named && why_no_memory(uint64_t{1} << 20).empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace kw::os
