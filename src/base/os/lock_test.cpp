#include "os/lock.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/disk.h"
#include "os/files.h"

namespace kw::os {
namespace {

class Lock : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_lock_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/lock";
  }
  void TearDown() override { ASSERT_TRUE(real_disk().remove(folder_)); }
  std::string folder_, path_;
};

TEST_F(Lock, HasOneOwnerWhoIsNamed) {
  EXPECT_EQ(lock_holder(path_), std::nullopt);
  {
    const FileLock lock = FileLock::take(path_).value();
    EXPECT_EQ(lock.died(), "");
    const Result<FileLock> second = FileLock::take(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().blame, Blame::Input);
    EXPECT_NE(second.error().message.find(fmt::format("process {}", ::getpid())),
              std::string::npos);
    EXPECT_NE(lock_holder(path_)->find(fmt::format("process {}", ::getpid())), std::string::npos);
  }
  EXPECT_EQ(lock_holder(path_), std::nullopt);
  EXPECT_EQ(FileLock::take(path_)->died(), "") << "the first owner freed it";
}

TEST_F(Lock, IsFreeWhenItsOwnerIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<FileLock> lock = FileLock::take(path_);
    static_cast<void>(!::write(ready[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_NE(lock_holder(path_)->find(fmt::format("process {}", child)), std::string::npos);
  EXPECT_FALSE(FileLock::take(path_));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(lock_holder(path_), std::nullopt);
  EXPECT_NE(FileLock::take(path_)->died().find(fmt::format("process {}", child)),
            std::string::npos);
}

TEST_F(Lock, WhereNoneCanBe) {
  EXPECT_EQ(FileLock::take(folder_ + "/no/lock").error().blame, Blame::Input);
  ASSERT_TRUE(make_directories(path_));
  EXPECT_FALSE(FileLock::take(path_));
}

TEST_F(Lock, DiskRemovesFoldersButFollowsNoLinks) {
  Disk& disk = real_disk();
  ASSERT_TRUE(disk.make_directories(folder_ + "/a/b"));
  ASSERT_TRUE(disk.make_directories(folder_ + "/kept"));
  ASSERT_TRUE(disk.write(folder_ + "/kept/file", "x", Sync::Yes));
  ASSERT_EQ(::symlink((folder_ + "/kept").c_str(), (folder_ + "/a/b/link").c_str()), 0);
  ASSERT_TRUE(disk.remove(folder_ + "/a"));
  EXPECT_FALSE(exists(folder_ + "/a"));
  EXPECT_EQ(*read_file(folder_ + "/kept/file"), "x");
  EXPECT_TRUE(disk.remove(folder_ + "/nothing"));
}

TEST_F(Lock, DiskAppendsAndTruncates) {
  Disk& disk = real_disk();
  ASSERT_TRUE(disk.append(path_, "one\n"));
  ASSERT_TRUE(disk.append(path_, "two\n"));
  EXPECT_EQ(*read_file(path_), "one\ntwo\n");
  ASSERT_TRUE(disk.truncate(path_, 4));
  EXPECT_EQ(*read_file(path_), "one\n");
  EXPECT_FALSE(disk.truncate(folder_ + "/nothing", 0));
  EXPECT_FALSE(disk.append(folder_ + "/no/file", "x"));
}

}  // namespace
}  // namespace kw::os
