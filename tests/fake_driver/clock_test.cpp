// The clock on a device that misbehaves as no real one does on demand: clocks that drop, a GPU that
// is lost in the middle, memory that cannot be pinned, inputs overwritten behind the worker's back.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "os/files.h"
#include "suite.h"

namespace kw::gpu_suite {
namespace {

using ports::RunStatus;

/// A device of its own, opened with environment variables set.
class Own : public ::testing::Test {
 protected:
  void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
    set_.push_back(name);
  }
  void TearDown() override {
    for (const char* name : set_) ::unsetenv(name);
    for (const std::string& file : files_) ::unlink(file.c_str());
  }
  std::string file(const std::string& name) {
    files_.push_back(os::env("KERNELWRIGHT_RUNTIME_DIR") + "/" + name);
    return files_.back();
  }
  void open() {
    auto opened = gpu::GpuDevice::open(0);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    device_ = std::move(opened).value();
    ports::Compiled compiled;
    compiled.image = kKernels;
    auto loaded = device_->load(compiled);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    image_ = *loaded;
  }
  Result<ports::TimeOutcome> time(const Case& test, const ports::TimeProtocol& protocol) {
    return device_->time({{image_, &test.program, {&test.inputs}}}, protocol);
  }

  std::vector<const char*> set_;
  std::vector<std::string> files_;
  std::unique_ptr<gpu::GpuDevice> device_;
  ports::ImageId image_ = 0;
};

/// Clock readings, one per line; the last stays.
void write_clocks(const std::string& path, const std::vector<int>& readings) {
  std::ofstream out(path);
  for (int mhz : readings) out << mhz << "\n";
}

Case busy() {
  Case test;
  test.launch("spin", 1, 1, {value<uint64_t>(2'000'000)});
  return test;
}

TEST_F(Own, SamplesAtALowClockAreDiscarded) {
  const std::string clocks = file("clocks");
  // Opening and starting read it too; then it is low for a while, then well.
  write_clocks(clocks, {1980, 1980, 1980, 600, 600, 600, 1980});
  set("KW_FAKE_CLOCK", clocks);
  open();
  ports::TimeProtocol protocol;
  protocol.max_samples = 60;
  protocol.max_seconds = 10;
  auto outcome = time(busy(), protocol);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  const record::TimingSamples& samples = outcome->results.at(0).samples;
  EXPECT_GT(samples.discarded, 0);
  EXPECT_EQ(samples.microseconds.size(), 60u);
  EXPECT_FALSE(samples.clocks_low);
  EXPECT_EQ(samples.sm_clock_mhz, 600);
  EXPECT_EQ(samples.temperature_c, 41);
}

TEST_F(Own, AClockThatStaysLowIsSaidSo) {
  const std::string clocks = file("clocks");
  write_clocks(clocks, {700});
  set("KW_FAKE_CLOCK", clocks);
  open();
  ports::TimeProtocol protocol;
  protocol.max_samples = 6;
  auto outcome = time(busy(), protocol);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  const record::TimingSamples& samples = outcome->results.at(0).samples;
  EXPECT_TRUE(samples.clocks_low);
  EXPECT_GE(samples.microseconds.size(), 6u);
  EXPECT_EQ(samples.sm_clock_mhz, 700);
}

TEST_F(Own, AGpuLostInTheMiddleIsNobodysFault) {
  const std::string sick = file("sick");
  set("KW_FAKE_SICK", sick);
  open();
  std::thread falls_ill([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(os::write_file(sick, "sick").has_value());
  });
  ports::TimeProtocol protocol;
  protocol.max_samples = 100000;
  protocol.max_seconds = 30;
  auto outcome = time(busy(), protocol);
  falls_ill.join();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().blame, Blame::Environment);
  EXPECT_NE(outcome.error().message.find("lost"), std::string::npos) << outcome.error().message;
  ::unlink(sick.c_str());
  protocol.max_samples = 4;
  auto well = time(busy(), protocol);
  ASSERT_TRUE(well.has_value()) << well.error().message;
  EXPECT_EQ(well->status, RunStatus::Completed) << well->message;
}

TEST_F(Own, UnpinnedMemoryIsOnlySlower) {
  set("KW_FAKE_CUDA", "no-pinning");
  open();
  Case test = addition(1000);
  auto outcome = device_->run(image_, test.program, test.inputs, {});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(values<float>(outcome->buffers.at(2))[10], 30.0f);
}

TEST_F(Own, InputsOverwrittenInTheWorkerAreSentAgain) {
  open();
  Case test = addition(1000);
  const auto sum = [&]() -> float {
    auto outcome = device_->run(image_, test.program, test.inputs, {});
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    return outcome ? values<float>(outcome->buffers.at(2))[10] : 0;
  };
  EXPECT_EQ(sum(), 30.0f);
  // A kernel of the fake that writes over every allocation of this size, as a wild one might.
  Case wild;
  wild.launch("scribble", 1, 1, {value<uint64_t>(4000)});
  ports::Compiled compiled;
  compiled.image = std::string(kKernels) + ".visible .entry scribble(.param .u64 bytes) { ret; }\n";
  auto image = device_->load(compiled);
  ASSERT_TRUE(image.has_value());
  ASSERT_TRUE(device_->run(*image, wild.program, wild.inputs, {}).has_value());
  EXPECT_EQ(sum(), 30.0f) << "what a candidate left behind was used as an input";
}

TEST_F(Own, AFreshWorkerKnowsEverythingAgain) {
  open();
  Case test = addition(500);
  ASSERT_TRUE(device_->run(image_, test.program, test.inputs, {}).has_value());
  const pid_t before = device_->worker_pid();
  device_->renew();
  auto outcome = device_->run(image_, test.program, test.inputs, {});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(values<float>(outcome->buffers.at(2))[10], 30.0f);
  EXPECT_NE(device_->worker_pid(), before);
}

}  // namespace
}  // namespace kw::gpu_suite
