#include "verification/verify.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"
#include "verification/verify_sanitizer.h"

namespace kw::verification {

namespace {

/// A fake compute-sanitizer: records its arguments and gives the answer of the test.
class Sanitizer : public testing::Test {
 protected:
  std::string folder = testing::TempDir() + "kw_sanitizer_" + std::to_string(::getpid());
  kernel::Bindings bindings;

  void SetUp() override {
    ASSERT_TRUE(os::make_directories(folder));
    bindings.target.name = "sm_90";
    bindings.dims = {{"B", 3}};
    bindings.tunes = {{"VEC", 4}};
    bindings.scalars = {{"eps", 0.5}};
    bindings.absent = {"bias"};
  }
  void TearDown() override {
    for (const std::string& name : os::list_directory(folder))
      (void)os::remove_file(folder + "/" + name);
    ::rmdir(folder.c_str());
  }
  Result<std::string> check(const std::string& answer) {
    const std::string path = folder + "/sanitizer";
    const Status written =
        os::write_file(path, "#!/bin/sh\necho \"$@\" >> " + folder + "/words\n" + answer + "\n");
    if (!written) return written.error();
    ::chmod(path.c_str(), 0755);
    return sanitizer_checkers("k.cu", path, "/bin/kernelwright")(bindings);
  }
};

}  // namespace

TEST_F(Sanitizer, RunsAllFourTools) {
  const auto found = check("exit 0");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, "");
  const auto words = os::read_file(folder + "/words");
  ASSERT_TRUE(words);
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"})
    EXPECT_NE(words->find(std::string("--tool ") + tool), std::string::npos) << *words;
  EXPECT_NE(words->find("/bin/kernelwright run k.cu --device gpu --dims {\"B\":3} --target sm_90"),
            std::string::npos)
      << *words;
  EXPECT_NE(words->find("--tune VEC=4 --scalar eps=0.5 --absent bias"), std::string::npos)
      << *words;
}

TEST_F(Sanitizer, SaysWhatTheToolFound) {
  const auto found = check(
      "echo '========= COMPUTE-SANITIZER'\n"
      "echo '========= Invalid __global__ write of size 4 bytes'\nexit 86");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, "compute-sanitizer memcheck: Invalid __global__ write of size 4 bytes");
}

TEST_F(Sanitizer, AToolThatFailsIsNoEvidence) {
  const auto found = check("exit 3");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "compute-sanitizer memcheck ended with code 3");
}

TEST(SanitizerChecks, AreEmptyWithoutTheProgram) {
  EXPECT_FALSE(sanitizer_checkers("k.cu", "", "self"));
}

TEST(VerifyStory, KnowsItsFamilies) {
  EXPECT_TRUE(check_family("spikes"));
  const Status unknown = check_family("spike");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean 'spikes'"), std::string::npos);
}

TEST(VerifyStory, RefusesAFamilyThatTheTaskExcludes) {
  task::Task task;
  EXPECT_TRUE(check_family_of(task, "denormal"));
  const Status excluded = check_family_of(task, "special");
  ASSERT_FALSE(excluded);
  EXPECT_NE(excluded.error().message.find("nan = \"never\""), std::string::npos);
  task.precision.nan = task::NanPolicy::Propagate;
  task.precision.flush = true;
  EXPECT_TRUE(check_family_of(task, "special"));
  EXPECT_FALSE(check_family_of(task, "denormal"));
}

}  // namespace kw::verification
