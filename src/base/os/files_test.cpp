#include "os/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "os/file_error.h"
#include "os/leftovers.h"
#include "os/library.h"
#include "os/own_program.h"
#include "os/shared_memory.h"

namespace kw::os {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_files_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    for (const std::string& name : list_directory(folder_)) {
      const std::string path = folder_ + "/" + name;
      if (::unlink(path.c_str()) != 0) ::rmdir(path.c_str());
    }
    ::rmdir(folder_.c_str());
  }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

TEST_F(Files, WhatAKilledWriterLeftIsRemoved) {
  const auto at = [&](const char* name) { return folder_ + "/" + name; };
  ASSERT_TRUE(make_directories(at("inner")) && make_directories(at("others")));
  const char* const left[] = {"state.json.tmp-12-3", "inner/a.tmp-1-0"};
  const char* const kept[] = {"state.json", "inner/a", "others/b.tmp-1-0"};
  for (const char* name : left) ASSERT_TRUE(write_file(at(name), "half"));
  for (const char* name : kept) ASSERT_TRUE(write_file(at(name), "whole"));
  remove_leftovers(folder_, "others");
  for (const char* name : left) EXPECT_FALSE(exists(at(name))) << name;
  for (const char* name : kept) EXPECT_TRUE(exists(at(name))) << name;
  for (const char* folder : {"inner", "others"}) std::filesystem::remove_all(at(folder));
}

TEST_F(Files, WhatIsWrittenIsRead) {
  for (const std::string& bytes :
       {std::string(), std::string("a\0b\r\n", 5), std::string(3 << 20, 'x')}) {
    ASSERT_TRUE(write_file(at("f"), bytes));
    auto read = read_file(at("f"));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, bytes);
  }
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"f"}) << "a temporary file is left";
}

TEST_F(Files, ReadRefusals) {
  ASSERT_TRUE(write_file(at("big"), std::string(100, 'x')));
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  const struct {
    std::string path;
    const char* message;
  } cases[] = {
      {at("missing"), "No such file"},      {folder_, "directory"},
      {"/dev/zero", "not a regular file"},  {at("fifo"), "not a regular file"},
      {at("big"), "100 B, more than"},      {at("big") + "/x", "Not a directory"},
      {std::string(5000, 'a'), "too long"},
  };
  for (const auto& c : cases) {
    const auto got = read_file(c.path, 99);
    ASSERT_FALSE(got) << c.path;
    EXPECT_EQ(got.error().blame, Blame::Input) << got.error().message;
    EXPECT_NE(got.error().message.find(c.message), std::string::npos) << got.error().message;
  }
}

TEST_F(Files, FilesWithoutASizeAreReadToTheirEnd) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_NE(status->find("VmSize"), std::string::npos);
}

TEST_F(Files, WriteFailures) {
  const struct {
    std::string path;
    const char* message;
  } cases[] = {
      {"/dev/full", "No space left"},
      {folder_, "directory"},
      {at("no/such/folder"), "No such file"},
      {"/proc/kernelwright", ""},
  };
  for (const auto& c : cases) {
    const auto got = write_file(c.path, "text");
    ASSERT_FALSE(got) << c.path;
    EXPECT_NE(got.error().message.find(c.message), std::string::npos) << got.error().message;
  }
  EXPECT_TRUE(exists("/dev/full")) << "the device was replaced";
}

TEST_F(Files, AFailedWriteKeepsTheOldContent) {
  ASSERT_TRUE(write_file(at("f"), "old"));
  // Root may write everywhere, so the test becomes another user here.
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root && (::chown(folder_.c_str(), kNobody, kNobody) != 0 || ::seteuid(kNobody) != 0)) {
    GTEST_SKIP() << "root cannot become someone else here";
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 0500), 0);
  const auto got = write_file(at("f"), "new");
  ::chmod(folder_.c_str(), 0700);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().blame, Blame::Environment);
  EXPECT_EQ(*read_file(at("f")), "old");
}

TEST_F(Files, LinksStayLinks) {
  ASSERT_TRUE(write_file(at("real"), "old"));
  ASSERT_EQ(::symlink("real", at("link").c_str()), 0);
  ASSERT_TRUE(write_file(at("link"), "new"));
  EXPECT_EQ(*read_file(at("real")), "new");
  struct stat st {};
  ASSERT_EQ(::lstat(at("link").c_str(), &st), 0);
  EXPECT_TRUE(S_ISLNK(st.st_mode));
}

TEST_F(Files, ReadersSeeOldOrNewNeverHalf) {
  const std::string old_text(100000, 'a'), new_text(100000, 'b');
  ASSERT_TRUE(write_file(at("f"), old_text));
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write_file(at("f"), i % 2 != 0 ? old_text : new_text));
  });
  for (int i = 0; i < 200; ++i) {
    const auto got = read_file(at("f"));
    ASSERT_TRUE(got);
    EXPECT_TRUE(*got == old_text || *got == new_text);
  }
  writer.join();
}

TEST_F(Files, Folders) {
  ASSERT_TRUE(make_directories(at("a")));
  ASSERT_TRUE(make_directories(at("a") + "/"));
  EXPECT_TRUE(is_directory(at("a")));
  ASSERT_TRUE(write_file(at("f"), ""));
  const auto through_file = make_directories(at("f") + "/x");
  ASSERT_FALSE(through_file);
  EXPECT_NE(through_file.error().message.find("Not a directory"), std::string::npos);
  EXPECT_FALSE(make_directories(""));
  // A file system that takes no folders. The reason is that of mkdir, not of a later question.
  const auto refused = make_directories("/sys/kernelwright/x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::Environment) << refused.error().message;
  EXPECT_EQ(refused.error().message.find("No such file"), std::string::npos)
      << refused.error().message;
  for (const int code : {EROFS, ENOSPC, EDQUOT, EACCES, EPERM, EIO, EMFILE})
    EXPECT_EQ(file_error("creating folder", "x", code).blame, Blame::Environment) << code;
  EXPECT_EQ(glob(at("*")), (std::vector<std::string>{at("a"), at("f")}));
  EXPECT_TRUE(glob(at("none*")).empty());
  EXPECT_TRUE(remove_file(at("f")));
  EXPECT_TRUE(remove_file(at("f"))) << "what is gone need not be removed";
}

TEST(FindProgram, KnowsPathAndPaths) {
  EXPECT_NE(find_program("sh"), "");
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("no-such-program-here"), "");
  EXPECT_EQ(find_program("/tmp"), "");
  EXPECT_EQ(find_program(""), "");
}

/// Sets a variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name), old_(env(name)) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_.empty())
      ::unsetenv(name_);
    else
      ::setenv(name_, old_.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
};

// A stranger may control the working directory. The test tries every way to name it.
TEST_F(Files, NothingIsFoundInTheWorkingDirectory) {
  char before[4096];
  ASSERT_NE(::getcwd(before, sizeof(before)), nullptr);
  ASSERT_TRUE(make_directories(at("bin")));
  for (const char* name : {"kw-trap", "bin/kw-trap", "trap.so"}) {
    ASSERT_TRUE(write_file(at(name), "#!/bin/sh\n"));
    ASSERT_EQ(::chmod(at(name).c_str(), 0755), 0);
  }
  ASSERT_EQ(::chdir(at("").c_str()), 0);
  for (const char* path : {":/usr/bin", "/usr/bin:", "/usr/bin::/bin", ".", "./", "bin", "./bin",
                           "../", "~/bin", "bin:/usr/bin"}) {
    const Variable variable("PATH", path);
    EXPECT_EQ(find_program("kw-trap"), "") << path;
  }
  {
    const Variable variable("PATH", at("bin"));
    EXPECT_EQ(find_program("kw-trap"), at("bin/kw-trap")) << "an absolute entry counts";
  }
  for (const char* name : {"./kw-trap", "bin/kw-trap", "./bin/../kw-trap"})
    EXPECT_EQ(find_program(name), "") << name;
  for (const char* name : {"./trap.so", "bin/../trap.so"}) {
    const auto library = Library::open(name);
    ASSERT_FALSE(library);
    EXPECT_NE(library.error().message.find("absolute path"), std::string::npos);
  }
  ASSERT_EQ(::chdir(before), 0);
  std::filesystem::remove_all(at("bin"));
}

TEST(Variables, OnlyAbsolutePathsCount) {
  const Variable one("KW_TEST_PATH", "build/x");
  EXPECT_EQ(env_path("KW_TEST_PATH"), "");
  const Variable two("KW_TEST_PATH", "/build/x");
  EXPECT_EQ(env_path("KW_TEST_PATH"), "/build/x");
  const Variable list("KW_TEST_PATH", ":.:/a:b::/c:");
  EXPECT_EQ(env_paths("KW_TEST_PATH"), (std::vector<std::string>{"/a", "/c"}));
  const Variable worker("KERNELWRIGHT_WORKER", "./kernelwright");
  const auto program = worker_program();
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "$KERNELWRIGHT_WORKER is './kernelwright'; it must be an absolute path");
}

TEST(Variables, ProgramsWeStartGetListsWithoutTheWorkingDirectory) {
  const Variable path("PATH", ":.:/usr/bin:bin::/bin:");
  const Variable libraries("LD_LIBRARY_PATH", ":");
  drop_relative_paths();
  EXPECT_EQ(env("PATH"), "/usr/bin:/bin");
  EXPECT_EQ(::getenv("LD_LIBRARY_PATH"), nullptr);
  const Variable none("PATH", ".");
  drop_relative_paths();
  EXPECT_EQ(find_program("sh"), "") << "no entry is not the same as no list";
}

TEST(BuildFolder, IsKnownToProgramsInIt) {
  EXPECT_TRUE(self_path().starts_with(build_folder() + "/"));
  set_own_program("/usr/bin/kernelwright");
  EXPECT_EQ(build_folder(), "");
  set_own_program("");
  EXPECT_NE(build_folder(), "");
}

TEST(CacheDirectory, FollowsTheEnvironment) {
  const std::string old = env("KERNELWRIGHT_CACHE");
  ::setenv("KERNELWRIGHT_CACHE", "/x/y", 1);
  EXPECT_EQ(cache_directory(), "/x/y");
  ::unsetenv("KERNELWRIGHT_CACHE");
  ::setenv("XDG_CACHE_HOME", "/z", 1);
  EXPECT_EQ(cache_directory(), "/z/kernelwright");
  ::setenv("KERNELWRIGHT_CACHE", "x/y", 1);
  EXPECT_EQ(cache_directory(), "/z/kernelwright") << "a relative path is not followed";
  ::unsetenv("KERNELWRIGHT_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_NE(cache_directory().find("/.cache/kernelwright"), std::string::npos);
  if (!old.empty()) ::setenv("KERNELWRIGHT_CACHE", old.c_str(), 1);
}

TEST(Library, LoadsAndFindsSymbols) {
  auto math = Library::open("libm.so.6");
  ASSERT_TRUE(math) << math.error().message;
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(math->bind(cosine, "cos"));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_FALSE(math->bind(cosine, "no_such_symbol"));
  const auto missing = Library::open("libno-such-library.so");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().blame, Blame::Environment);
}

TEST(SharedMemory, IsSeenThroughBothMappings) {
  auto first = SharedMemory::create(10000);
  ASSERT_TRUE(first);
  auto second = SharedMemory::attach(::dup(first->fd()), 10000);
  ASSERT_TRUE(second);
  first->data()[9999] = std::byte{42};
  EXPECT_EQ(second->data()[9999], std::byte{42});
  EXPECT_EQ(second->data()[0], std::byte{0});
  EXPECT_TRUE(SharedMemory::create(0));
}

TEST(SharedMemory, RefusesWhatCannotBeMapped) {
  EXPECT_FALSE(SharedMemory::create(UINT64_MAX));
  EXPECT_FALSE(SharedMemory::create(uint64_t{1} << 62));
  auto small = SharedMemory::create(4096);
  ASSERT_TRUE(small);
  EXPECT_FALSE(SharedMemory::attach(::dup(small->fd()), 1 << 20))
      << "reading past the end is SIGBUS";
  EXPECT_FALSE(SharedMemory::attach(-1, 10));
}

}  // namespace
}  // namespace kw::os
