#include "host_recording/foreign_build.h"

#include <gtest/gtest.h>

#include "compile/search.h"
#include "os/files.h"

namespace kw::host_recording {
namespace {

class NvccForeignBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (!compile::find_tools().nvcc) GTEST_SKIP() << "no nvcc on this machine";
    ::setenv("KERNELWRIGHT_CACHE", folder_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("KERNELWRIGHT_CACHE"); }

  static ForeignBuildRequest scaled_by(const std::string& factor) {
    ForeignBuildRequest request = launcher_build(
        "__global__ void scaled(float* y) { y[threadIdx.x] *= FACTOR; }\n"
        "extern \"C\" void solve(float* y) { scaled<<<1, 32>>>(y); }\n",
        "scaled.cu", "solve");
    request.target = "sm_90";
    request.flags = {"-DFACTOR=" + factor};
    return request;
  }

  const os::ScratchFolder folder_ = os::ScratchFolder::make("test").value();
};

TEST_F(NvccForeignBuild, IsMadeOnceForEachRequest) {
  const auto three = build_foreign(scaled_by("3.0f")), again = build_foreign(scaled_by("3.0f")),
             five = build_foreign(scaled_by("5.0f"));
  ASSERT_TRUE(three && again && five);
  ASSERT_FALSE(three->failed) << three->failed->log;
  ASSERT_FALSE(five->failed) << five->failed->log;
  EXPECT_FALSE(three->from_cache);
  EXPECT_TRUE(again->from_cache);
  EXPECT_FALSE(five->from_cache);
  EXPECT_NE(three->library, again->library);
  EXPECT_EQ(os::read_file(three->library).value(), os::read_file(again->library).value());
  EXPECT_EQ(three->ptx, again->ptx);
  EXPECT_EQ(three->compiler, again->compiler);
  ASSERT_EQ(three->kernels.size(), again->kernels.size());
  for (const auto& [entry, kernel] : three->kernels)
    EXPECT_EQ(kernel.registers, again->kernels.at(entry).registers) << entry;
  EXPECT_NE(three->ptx.find("0f40400000"), std::string::npos);  // 3, in PTX notation
  EXPECT_NE(five->ptx.find("0f40A00000"), std::string::npos);
}

}  // namespace
}  // namespace kw::host_recording
