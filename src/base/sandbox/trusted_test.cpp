#include "sandbox/trusted.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "os/files.h"
#include "os/scratch.h"

namespace kw::sandbox {
namespace {

class Trusted : public testing::Test {
 protected:
  Trusted() : scratch_(os::ScratchFolder::make("compile").value()) {
    std::filesystem::create_directories(in("lib"));
    EXPECT_TRUE(os::write_file(in("lib/libnvrtc.so"), "x"));
    EXPECT_EQ(::chmod(in("lib").c_str(), 0755), 0);
  }
  std::string in(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string problem(const std::string& path) const {
    const Status status = check_trusted(path);
    return status ? "" : status.error().message;
  }
  os::ScratchFolder scratch_;
};

TEST_F(Trusted, AcceptsTheUsersAndTheSystemsFiles) {
  EXPECT_EQ(problem(in("lib/libnvrtc.so")), "");
  EXPECT_EQ(problem("/bin/sh"), "");
  EXPECT_EQ(problem("/no/such/file"), "");
}

TEST_F(Trusted, RefusesWhatOthersCanChange) {
  struct Case {
    const char* name;
    const char* path;
    unsigned mode;
  };
  const Case cases[] = {{"the file", "lib/libnvrtc.so", 0666},
                        {"its folder", "lib", 0777},
                        {"its sticky folder", "lib", 01777},
                        {"a folder above", ".", 0777}};
  for (const Case& one : cases) {
    struct stat before {};
    ASSERT_EQ(::stat(in(one.path).c_str(), &before), 0);
    ASSERT_EQ(::chmod(in(one.path).c_str(), one.mode), 0);
    EXPECT_NE(problem(in("lib/libnvrtc.so")).find("other users can change"), std::string::npos)
        << one.name;
    ASSERT_EQ(::chmod(in(one.path).c_str(), before.st_mode & 07777), 0);
  }
  EXPECT_EQ(problem(in("lib/libnvrtc.so")), "");
}

TEST_F(Trusted, FollowsLinksToTheRealPlace) {
  ASSERT_EQ(::chmod(in("lib").c_str(), 0777), 0);
  ASSERT_EQ(::symlink(in("lib/libnvrtc.so").c_str(), in("link.so").c_str()), 0);
  EXPECT_NE(problem(in("link.so")).find(in("lib")), std::string::npos);
}

TEST_F(Trusted, RefusesAStrangersFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(in("lib/libnvrtc.so").c_str(), 12345, 12345), 0);
  EXPECT_NE(problem(in("lib/libnvrtc.so")).find("chown"), std::string::npos);
}

}  // namespace
}  // namespace kw::sandbox
