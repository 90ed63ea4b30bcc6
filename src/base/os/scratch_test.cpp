#include "os/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/files.h"

namespace kw::os {
namespace {

TEST(ScratchFolder, GoesWithItsOwner) {
  std::string path;
  {
    auto folder = ScratchFolder::make("compile");
    ASSERT_TRUE(folder);
    path = folder->path();
    ASSERT_TRUE(make_directories(path + "/a/b"));
    ASSERT_TRUE(write_file(path + "/a/b/c", "x"));
    ScratchFolder moved = std::move(folder).value();
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(exists(path));
  }
  EXPECT_FALSE(exists(path));
}

TEST(ScratchFolder, SaysWhereItCannotBe) {
  const std::string before = env("TMPDIR");
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto folder = ScratchFolder::make("compile");
  if (before.empty()) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", before.c_str(), 1);
  }
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().blame, Blame::Environment);
  EXPECT_NE(folder.error().message.find("/no/such/folder"), std::string::npos);
}

TEST(ScratchFolder, SweepTakesOnlyWhatIsOldAndDead) {
  pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const std::string start =
      (env("TMPDIR").empty() ? "/tmp" : env("TMPDIR")) + "/kernelwright-compile-";
  const std::string old_dead = start + std::to_string(dead) + "-old",
                    new_dead = start + std::to_string(dead) + "-new",
                    old_alive = start + std::to_string(::getpid()) + "-old";
  for (const std::string& path : {old_dead, new_dead, old_alive})
    ASSERT_TRUE(make_directories(path));
  const timespec long_ago[2] = {{1000000, 0}, {1000000, 0}};
  for (const std::string& path : {old_dead, old_alive})
    ::utimensat(AT_FDCWD, path.c_str(), long_ago, 0);
  ScratchFolder::sweep("compile");
  EXPECT_FALSE(exists(old_dead));
  EXPECT_TRUE(exists(new_dead));
  EXPECT_TRUE(exists(old_alive));
  for (const std::string& path : {new_dead, old_alive}) ::rmdir(path.c_str());
}

}  // namespace
}  // namespace kw::os
