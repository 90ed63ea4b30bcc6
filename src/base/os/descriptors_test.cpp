#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"

namespace kw::os {
namespace {

// With few descriptors the reason and the remedy must be told, whichever call runs out first.
TEST(Descriptors, WhenNoneIsFreeTheLimitIsNamed) {
  for (rlim_t most = 3; most <= 16; ++most) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      const auto done = run_process({"/bin/true"}, "x");
      const auto started = Child::start({"/bin/cat"});
      const auto told = [](const Error& error) {
        return error.blame == Blame::Environment &&
               error.message.find("ulimit -n") != std::string::npos;
      };
      ::_exit((done || told(done.error())) && (started || told(started.error())) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << most;
  }
}

}  // namespace
}  // namespace kw::os
