// The process that a profiler looks at: what is between its marks, and what it does with nonsense.
#include "gpu/profiled_call.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "kernels.h"
#include "os/files.h"
#include "suite.h"

namespace kw::gpu_suite {
namespace {

class ProfiledCallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/kw-profiled-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    ::setenv("KW_FAKE_LOG", (folder_ + "/log").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("KW_FAKE_LOG");
    std::filesystem::remove_all(folder_);
  }
  Result<gpu::ProfiledCall> write(const Case& test, const char* image = kKernels) {
    ports::Compiled compiled;
    compiled.image = image;
    return gpu::ProfiledCall::write(compiled, test.program, test.inputs, folder_ + "/call", 5);
  }
  static Status call(const gpu::ProfiledCall& call) {
    const std::vector<std::string> words = call.words();
    return gpu::profiled_call(words[1], words[2]);
  }
  std::string log() const {
    const auto text = os::read_file(folder_ + "/log");
    return text ? *text : "";
  }
  std::string folder_;
};

TEST_F(ProfiledCallTest, MarksTheLastOfItsCalls) {
  const Case test = addition(1000);
  const auto written = write(test);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->words()[0], gpu::kProfiledCallCommand);
  const Status called = call(*written);
  ASSERT_TRUE(called) << called.error().message;
  EXPECT_EQ(log(), "launch\nlaunch\nstart\nlaunch\nstop\n");
}

TEST_F(ProfiledCallTest, MarksAllLaunchesOfOneCall) {
  Case test = addition(1000);
  test.program.launches.push_back(test.program.launches[0]);
  const auto written = write(test);
  ASSERT_TRUE(written && call(*written));
  EXPECT_TRUE(log().ends_with("start\nlaunch\nlaunch\nstop\n")) << log();
}

TEST_F(ProfiledCallTest, RefusesInputsThatDoNotFit) {
  Case test = addition(1000);
  test.inputs[0].data.resize(8);
  const auto written = write(test);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().blame, Blame::Input);
}

TEST_F(ProfiledCallTest, SaysWhatIsWrongWithWhatItIsGiven) {
  EXPECT_FALSE(gpu::profiled_call(folder_ + "/nothing", ""));
  ASSERT_TRUE(os::write_file(folder_ + "/rubbish", "rubbish"));
  EXPECT_FALSE(gpu::profiled_call(folder_ + "/rubbish", ""));
  const auto written = write(addition(1000));
  ASSERT_TRUE(written);
  const Status lost = gpu::profiled_call(written->words()[1], "/proc/1/fd/none");
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("/proc/1/fd/none"), std::string::npos);
  const auto broken = write(addition(1000), "no image at all");
  ASSERT_TRUE(broken);
  EXPECT_FALSE(call(*broken));
  EXPECT_EQ(log(), "") << "nothing was launched";
}

}  // namespace
}  // namespace kw::gpu_suite
