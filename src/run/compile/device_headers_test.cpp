#include "compile/device_headers.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "os/files.h"

namespace kw::compile {
namespace {

class DeviceHeaders : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = os::env("KERNELWRIGHT_CACHE");
    char pattern[] = "/tmp/kw_headers_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    cache_ = pattern;
    ::setenv("KERNELWRIGHT_CACHE", pattern, 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(cache_);
    ::unsetenv("KERNELWRIGHT_CACHE");
    if (!before_.empty()) ::setenv("KERNELWRIGHT_CACHE", before_.c_str(), 1);
  }
  std::string before_, cache_;
};

void expect_all_there(const std::string& folder,
                      const std::string& source = KW_SOURCE_DIR "/device") {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().string().substr(source.size());
    const auto copy = os::read_file(folder + name);
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(*copy, *os::read_file(entry.path().string())) << name;
    ++files;
  }
  EXPECT_GT(files, 20);
}

TEST_F(DeviceHeaders, AreWrittenAsTheyAre) {
  const auto folder = own_header_folder(HeaderSet::Clang);
  ASSERT_TRUE(folder);
  EXPECT_TRUE(folder->starts_with(cache_));
  expect_all_there(*folder);
  const auto other = own_header_folder(HeaderSet::Nvrtc);
  ASSERT_TRUE(other);
  EXPECT_NE(*other, *folder);
  expect_all_there(*other, KW_SOURCE_DIR "/device_nvrtc");
}

TEST_F(DeviceHeaders, AreMended) {
  const std::string folder = *own_header_folder(HeaderSet::Clang);
  ASSERT_TRUE(os::remove_file(folder + "/cuda_fp16.h"));
  ASSERT_TRUE(os::write_file(folder + "/cuda_bf16.h", "cut"));
  const std::string zeros(os::file_size(folder + "/mma.h"), '\0');
  ASSERT_FALSE(zeros.empty());
  ASSERT_TRUE(os::write_file(folder + "/mma.h", zeros)) << "as after a power cut";
  EXPECT_EQ(*own_header_folder(HeaderSet::Clang), folder);
  expect_all_there(folder);
}

TEST_F(DeviceHeaders, ThatOthersCanChangeAreNotUsed) {
  const std::string folder = *own_header_folder(HeaderSet::Clang);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  const auto other = own_header_folder(HeaderSet::Clang);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_NE(*other, folder);
  expect_all_there(*other);
}

TEST_F(DeviceHeaders, FallBackToATemporaryFolder) {
  ::setenv("KERNELWRIGHT_CACHE", "/proc/kernelwright", 1);
  const auto folder = own_header_folder(HeaderSet::Clang);
  ASSERT_TRUE(folder) << folder.error().message;
  expect_all_there(*folder);
}

}  // namespace
}  // namespace kw::compile
