#include "os/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

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

TEST(ScratchFolder, OfAKilledProcessIsSweptAtOnce) {
  const ScratchFolder ours = ScratchFolder::make("torch").value();
  for (const char* kind : {"compile", "foreign", "cute"}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto made = ScratchFolder::make(kind);
      const bool told =
          made && make_directories(made->path() + "/a/b") && write_all(ends[1], made->path()) == 0;
      ::close(ends[1]);
      if (told) ::pause();
      ::_exit(1);
    }
    ::close(ends[1]);
    std::string path(4096, '\0');
    const ssize_t n = ::read(ends[0], path.data(), path.size());
    ::close(ends[0]);
    path.resize(n > 0 ? static_cast<size_t>(n) : 0);
    EXPECT_TRUE(is_directory(path)) << path;
    ScratchFolder::sweep();
    EXPECT_TRUE(is_directory(path)) << "its owner lives";
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ScratchFolder::sweep();
    EXPECT_FALSE(exists(path)) << path;
  }
  EXPECT_TRUE(is_directory(ours.path())) << "it is in use by this process";
}

// The sweeper and the maker meet at folders that are not locked yet.
TEST(ScratchFolder, IsNotSweptWhileItIsMade) {
  std::atomic<bool> done{false};
  std::thread sweeper([&] {
    while (!done) ScratchFolder::sweep();
  });
  for (int i = 0; i < 100; ++i) {
    const auto folder = ScratchFolder::make("compile");
    ASSERT_TRUE(folder) << folder.error().message;
    ASSERT_TRUE(write_file(folder->path() + "/f", "x")) << i;
  }
  done = true;
  sweeper.join();
}

TEST(ScratchFolder, SweepLeavesWhatIsNotOurs) {
  const std::string root = env("TMPDIR").empty() ? "/tmp" : env("TMPDIR");
  std::vector<std::string> kept;
  for (const char* name : {"kernelwright-x", "kernelwright-compile-", "kernelwright-compile-notes",
                           "kernelwright-compile-12", "kernelwright--12-locked-a"}) {
    kept.push_back(root + "/" + name);
    ASSERT_TRUE(make_directories(kept.back()));
  }
  const std::string link = root + "/kernelwright-compile-1-locked-x";
  ASSERT_EQ(::symlink(kept[0].c_str(), link.c_str()), 0);
  ScratchFolder::sweep();
  for (const std::string& path : kept) {
    EXPECT_TRUE(exists(path)) << path;
    ::rmdir(path.c_str());
  }
  EXPECT_EQ(::unlink(link.c_str()), 0) << "a link is left alone";
}

TEST(ScratchFolder, OfOlderVersionsGoesWhenItIsOldAndDead) {
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
  ScratchFolder::sweep();
  EXPECT_FALSE(exists(old_dead));
  EXPECT_TRUE(exists(new_dead));
  EXPECT_TRUE(exists(old_alive));
  for (const std::string& path : {new_dead, old_alive}) ::rmdir(path.c_str());
}

}  // namespace
}  // namespace kw::os
