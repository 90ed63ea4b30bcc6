#include "os/own_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "os/disk.h"
#include "os/files.h"
#include "os/lock.h"

namespace kw::os {
namespace {

class OwnFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_own_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder_ = pattern;
    umask_ = ::umask(022);
  }
  void TearDown() override {
    ::umask(umask_);
    std::filesystem::remove_all(folder_);
  }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  static unsigned mode_of(const std::string& path) {
    struct stat st {};
    return ::lstat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
  }
  std::string folder_;
  mode_t umask_ = 0;
};

TEST_F(OwnFiles, WhatWeMakeIsForItsUserAlone) {
  ASSERT_TRUE(make_directories(at("a/b")));
  ASSERT_TRUE(write_file(at("a/new"), "x"));
  ASSERT_TRUE(real_disk().append(at("a/log"), "x"));
  ASSERT_TRUE(FileLock::take(at("a/lock")));
  for (const char* folder : {"a", "a/b"}) EXPECT_EQ(mode_of(at(folder)), 0700U) << folder;
  for (const char* file : {"a/new", "a/log", "a/lock"}) EXPECT_EQ(mode_of(at(file)), 0600U) << file;
}

TEST_F(OwnFiles, AreRead) {
  ASSERT_TRUE(make_directories(at("cache/ab")));
  ASSERT_TRUE(write_file(at("cache/ab/cd"), "bytes"));
  const auto read = read_own(at("cache"), "ab/cd");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "bytes");
  EXPECT_TRUE(check_own_folder(at("cache")));
  EXPECT_TRUE(check_own_folder(at("missing")));
  for (const char* name : {"ab/missing", "missing/cd"}) {
    const auto missing = read_own(at("cache"), name);
    ASSERT_FALSE(missing) << name;
    EXPECT_EQ(missing.error().blame, Blame::Input);
  }
}

TEST_F(OwnFiles, ThatOthersCanChangeAreRefused) {
  ASSERT_TRUE(make_directories(at("up/cache/ab")));
  ASSERT_TRUE(write_file(at("up/cache/ab/cd"), "bytes"));
  for (const char* name : {"up", "up/cache", "up/cache/ab", "up/cache/ab/cd"}) {
    for (const mode_t mode : {0777, 0770, 0702}) {
      ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
      const auto read = read_own(at("up/cache"), "ab/cd");
      ASSERT_FALSE(read) << name;
      EXPECT_EQ(read.error().blame, Blame::Environment);
      EXPECT_NE(read.error().message.find("chmod -R go-w '" + at(name) + "'"), std::string::npos)
          << read.error().message;
    }
    ASSERT_EQ(::chmod(at(name).c_str(), 0700), 0);
  }
  EXPECT_TRUE(read_own(at("up/cache"), "ab/cd"));
  ASSERT_EQ(::chmod(at("up").c_str(), 01777), 0);
  EXPECT_TRUE(read_own(at("up/cache"), "ab/cd")) << "a sticky parent, as /tmp";
}

TEST_F(OwnFiles, OfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_TRUE(make_directories(at("cache/ab")));
  ASSERT_TRUE(write_file(at("cache/ab/cd"), "bytes"));
  for (const char* name : {"cache", "cache/ab", "cache/ab/cd"}) {
    ASSERT_EQ(::chown(at(name).c_str(), 65534, 65534), 0);
    const auto read = read_own(at("cache"), "ab/cd");
    ASSERT_FALSE(read) << name;
    EXPECT_NE(read.error().message.find("belongs to another user"), std::string::npos);
    ASSERT_EQ(::chown(at(name).c_str(), 0, 0), 0);
  }
}

TEST_F(OwnFiles, LinksBelowTheFolderAreNotFollowed) {
  ASSERT_TRUE(make_directories(at("cache/ab")));
  ASSERT_TRUE(write_file(at("cache/ab/cd"), "bytes"));
  ASSERT_EQ(::symlink("ab", at("cache/link").c_str()), 0);
  ASSERT_EQ(::symlink("cd", at("cache/ab/link").c_str()), 0);
  EXPECT_FALSE(read_own(at("cache"), "link/cd"));
  EXPECT_FALSE(read_own(at("cache"), "ab/link"));
}

TEST_F(OwnFiles, AHomeIsMadeForTheUserAlone) {
  for (int i = 0; i < 2; ++i) {
    const auto home = private_home(folder_);
    ASSERT_TRUE(home) << home.error().message;
    EXPECT_EQ(mode_of(*home), 0700U);
  }
  const std::string path = *private_home(folder_);
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_FALSE(private_home(folder_)) << "others can read it";
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  ASSERT_EQ(::symlink("/tmp", path.c_str()), 0);
  const auto linked = private_home(folder_);
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().blame, Blame::Environment);
  EXPECT_NE(linked.error().message.find("set HOME"), std::string::npos);
}

TEST_F(OwnFiles, WithoutHomeNoFolderIsShared) {
  const std::string before = env("HOME"), cache = env("KERNELWRIGHT_CACHE"),
                    xdg = env("XDG_CACHE_HOME");
  for (const char* name : {"HOME", "KERNELWRIGHT_CACHE", "XDG_CACHE_HOME"}) ::unsetenv(name);
  const std::string found = cache_directory();
  ::setenv("HOME", before.c_str(), 1);
  if (!cache.empty()) ::setenv("KERNELWRIGHT_CACHE", cache.c_str(), 1);
  if (!xdg.empty()) ::setenv("XDG_CACHE_HOME", xdg.c_str(), 1);
  EXPECT_FALSE(found.starts_with("/tmp/.cache")) << found;
}

}  // namespace
}  // namespace kw::os
