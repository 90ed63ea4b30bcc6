#include "os/inside.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace kw::os {
namespace {

constexpr uint64_t kLimit = 1000;
constexpr const char* kSecret = "nobody may read this";

/// /…/home/task is a received folder; /…/home/secret lies beside it.
class Inside : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_inside_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    home_ = std::filesystem::canonical(pattern).string();
    folder_ = home_ + "/task";
    ASSERT_TRUE(make_directories(folder_ + "/deep/er"));
    ASSERT_TRUE(make_directories(home_ + "/task2"));
    for (const char* name : {"/secret", "/task2/secret"})
      ASSERT_TRUE(write_file(home_ + name, kSecret));
    for (const char* name : {"/own", "/deep/own", "/deep/er/own"})
      ASSERT_TRUE(write_file(folder_ + name, "own"));
  }
  void TearDown() override { std::filesystem::remove_all(home_); }
  void link(const std::string& name, const std::string& target) {
    std::filesystem::create_symlink(target, folder_ + "/" + name);
  }
  /// The text of the file ("own"), or the message of the Error.
  std::string read(const std::string& path) {
    const auto text = read_inside(folder_, path, kLimit);
    return text ? *text : text.error().message;
  }
  std::string home_, folder_;
};

TEST_F(Inside, WhatStaysInsideIsRead) {
  link("link", "own");
  link("deep/up", "../own");
  link("whole", folder_ + "/deep/own");
  link("folder", "deep/er");
  link("chain", "whole");
  for (const std::string& path :
       {std::string("own"), std::string("./own"), std::string("deep/own"),
        std::string("deep/../own"), std::string("deep/er/../own"), std::string("link"),
        std::string("deep/up"), std::string("whole"), std::string("folder/own"),
        std::string("chain"), folder_ + "/own", folder_ + "/deep/../own"})
    EXPECT_EQ(read(path), "own") << path;
}

TEST_F(Inside, TheFolderItselfMayBeNamedThroughALink) {
  std::filesystem::create_symlink(folder_, home_ + "/other");
  EXPECT_EQ(*read_inside(home_ + "/other", "own", kLimit), "own");
  EXPECT_EQ(*read_inside(home_ + "/other/", "deep/own", kLimit), "own");
  EXPECT_EQ(*read_inside(home_ + "/other", home_ + "/other/own", kLimit), "own");
  EXPECT_FALSE(read_inside(home_ + "/other", "../secret", kLimit));
}

TEST_F(Inside, WhatLeavesIsRefused) {
  link("file", home_ + "/secret");
  link("relative", "../secret");
  link("folder", home_);
  link("chain1", "chain2");
  link("chain2", "deep/chain3");
  link("deep/chain3", "../../secret");
  link("nowhere", home_ + "/no such file");
  link("loop", "loop");
  link("sibling", "../task2");
  for (const std::string& path : {std::string("../secret"),
                                  std::string("../../secret"),
                                  std::string("deep/../../secret"),
                                  std::string("../task2/secret"),
                                  std::string("../task/../secret"),
                                  std::string("./../secret"),
                                  home_ + "/secret",
                                  std::string("/etc/passwd"),
                                  folder_ + "/../secret",
                                  folder_ + "2/secret",
                                  std::string("file"),
                                  std::string("relative"),
                                  std::string("folder/secret"),
                                  std::string("folder/task2/secret"),
                                  std::string("chain1"),
                                  std::string("nowhere"),
                                  std::string("loop"),
                                  std::string("sibling/secret"),
                                  std::string("sibling/none"),
                                  std::string(".."),
                                  std::string("../none")}) {
    EXPECT_EQ(read(path), path + ": it does not lie inside " + folder_ +
                              "; what a folder names must lie in that folder");
    EXPECT_FALSE(inside(folder_, path));
    EXPECT_FALSE(read_inside_if_there(folder_, path, kLimit)) << path;
  }
}

TEST_F(Inside, OnlyPlainFilesOfAPlainNameAreRead) {
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(folder_ + "/large", std::string(kLimit + 1, 'x')));
  link("zero", "/dev/zero");
  EXPECT_NE(read("pipe").find("not a regular file"), std::string::npos);
  EXPECT_NE(read("deep").find("it is a directory"), std::string::npos);
  EXPECT_NE(read(".").find("it is a directory"), std::string::npos);
  EXPECT_NE(read("large").find("more than the"), std::string::npos);
  EXPECT_NE(read("zero").find("does not lie inside"), std::string::npos);
  EXPECT_NE(read("").find("is empty"), std::string::npos);
  EXPECT_NE(read(std::string("own\0x", 5)).find("control characters: 'own?x'"), std::string::npos);
  EXPECT_NE(read("own\nPASSED").find("control characters: 'own?PASSED'"), std::string::npos);
  EXPECT_NE(read(std::string(5000, 'x')).find("too long"), std::string::npos);
  EXPECT_NE(read("none").find("No such file"), std::string::npos);
  EXPECT_NE(read("own/x").find("Not a directory"), std::string::npos);
}

TEST_F(Inside, WhatMayBeMissingMay) {
  for (const char* path : {"none", "deep/none", "none/none", "own/x"}) {
    const auto text = read_inside_if_there(folder_, path, kLimit);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_FALSE(*text);
  }
  EXPECT_EQ(read_inside_if_there(folder_, "own", kLimit)->value(), "own");
}

TEST_F(Inside, NothingIsWrittenOutside) {
  link("file", "../secret");
  link("new", "../made");
  link("folder", "..");
  for (const char* path :
       {"file", "new", "folder/secret", "folder/made", "../secret", "../made", "/tmp/kw-made"})
    EXPECT_FALSE(write_inside(folder_, path, "gone")) << path;
  EXPECT_EQ(*read_file(home_ + "/secret"), kSecret);
  EXPECT_FALSE(exists(home_ + "/made"));
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(write_inside(folder_, "pipe", "x")) << "nobody reads it";
  ASSERT_TRUE(write_inside(folder_, "deep/own", "mine"));
  EXPECT_EQ(*read_file(folder_ + "/deep/own"), "mine");
  ASSERT_TRUE(write_inside(folder_, "deep/new", "mine"));
}

TEST_F(Inside, AFolderWeWriteInHoldsNothingThatLeadsOut) {
  EXPECT_TRUE(check_contained(folder_));
  link("deep/fine", "../own");
  link("deep/lost", "../gone");  // its target is missing, but was inside the folder
  EXPECT_TRUE(check_contained(folder_));
  EXPECT_TRUE(check_contained(home_ + "/none"));
  const struct {
    const char *target, *message;
  } rows[] = {{"../../../secret", "leads out of its folder"},
              {"../../..", "leads out of its folder"},
              {"/dev/zero", "leads out of its folder"},
              {"../../../none", "leads out of its folder"}};
  for (const auto& row : rows) {
    link("deep/er/bad", row.target);
    const Status checked = check_contained(folder_);
    ASSERT_FALSE(checked) << row.target;
    EXPECT_NE(checked.error().message.find(row.message), std::string::npos);
    EXPECT_NE(checked.error().message.find("/task/deep/er/bad"), std::string::npos);
    std::filesystem::remove(folder_ + "/deep/er/bad");
  }
  ASSERT_EQ(::mkfifo((folder_ + "/deep/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(check_contained(folder_));
}

}  // namespace
}  // namespace kw::os
