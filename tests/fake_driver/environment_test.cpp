// What only a fake driver can show: machines without a GPU, sick GPUs, drivers that take the
// process down with them.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "os/files.h"
#include "suite.h"

namespace kw::gpu_suite {
namespace {

/// An environment variable for as long as the test needs it.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name), before_(os::env(name)) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_.empty()) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, before_.c_str(), 1);
    }
  }

 private:
  const char* name_;
  std::string before_;
};

std::string open_error() {
  auto device = gpu::GpuDevice::open(0);
  if (device) return "it opened";
  EXPECT_EQ(device.error().blame, Blame::Environment);
  return device.error().message;
}

TEST(Environment, NoDriverSaysWhatWasTried) {
  const Variable library("KERNELWRIGHT_LIBCUDA", "/nowhere/libcuda.so.1");
  EXPECT_NE(open_error().find("/nowhere/libcuda.so.1"), std::string::npos) << open_error();
}

TEST(Environment, NotADriver) {
  const Variable library("KERNELWRIGHT_LIBCUDA", "libm.so.6");
  EXPECT_NE(open_error().find("it lacks cuInit"), std::string::npos) << open_error();
}

TEST(Environment, DriverThatDoesNotStart) {
  const Variable fault("KW_FAKE_CUDA", "init-error");
  EXPECT_NE(open_error().find("cuInit says CUDA_ERROR_UNKNOWN"), std::string::npos) << open_error();
}

TEST(Environment, NoDevice) {
  const Variable fault("KW_FAKE_CUDA", "no-device");
  EXPECT_NE(open_error().find("found no GPU"), std::string::npos) << open_error();
}

TEST(Environment, NoSuchOrdinal) {
  auto device = gpu::GpuDevice::open(3);
  ASSERT_FALSE(device.has_value());
  EXPECT_NE(device.error().message.find("GPU 3 does not exist"), std::string::npos)
      << device.error().message;
}

TEST(Environment, WorkerThatCannotBeStarted) {
  {
    const Variable worker("KERNELWRIGHT_WORKER", "/nowhere/kernelwright");
    EXPECT_NE(open_error().find("/nowhere/kernelwright"), std::string::npos) << open_error();
  }
  {
    const Variable worker("KERNELWRIGHT_WORKER", "/bin/false");
    EXPECT_NE(open_error().find("exited with code 1"), std::string::npos) << open_error();
  }
}

class FakeOnly : public Suite {
 protected:
  void SetUp() override {
    Suite::SetUp();
    ptx_ = std::string(kKernels) + ".visible .entry abort_process() { ret; }\n";
  }
  std::string ptx_;
};

TEST_F(FakeOnly, AProcessThatAbortsIsAWorkerLost) {
  Case test;
  test.launch("abort_process", 1, 1, {});
  const ports::RunOutcome outcome = run(test, {}, ptx_.c_str());
  EXPECT_EQ(outcome.status, ports::RunStatus::WorkerLost);
  EXPECT_NE(outcome.message.find("SIGABRT"), std::string::npos) << outcome.message;
  expect_healthy();
}

TEST_F(FakeOnly, AnImageThatKillsTheDriverIsTheCallersFault) {
  ports::Compiled compiled;
  compiled.image = std::string(kKernels) + "// abort the driver\n";
  auto image = device().load(compiled);
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().blame, Blame::Input);
  EXPECT_NE(image.error().message.find("SIGABRT"), std::string::npos) << image.error().message;
  expect_healthy();
}

/// A device of its own whose health hangs on a file.
class Sick : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = os::env("KERNELWRIGHT_RUNTIME_DIR") + "/sick";
    variable_ = std::make_unique<Variable>("KW_FAKE_SICK", file_);
    auto opened = gpu::GpuDevice::open(0);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    device_ = std::move(opened).value();
  }
  void TearDown() override { ::unlink(file_.c_str()); }
  void fall_sick() { ASSERT_TRUE(os::write_file(file_, "sick").has_value()); }
  Result<ports::RunOutcome> add() {
    ports::Compiled compiled;
    compiled.image = kKernels;
    auto image = device_->load(compiled);
    EXPECT_TRUE(image.has_value());
    Case test = addition(10);
    return device_->run(*image, test.program, test.inputs, {});
  }

  std::string file_;
  std::unique_ptr<Variable> variable_;
  std::unique_ptr<gpu::GpuDevice> device_;
};

TEST_F(Sick, ADeviceThatIsLostIsNotTheCandidatesFault) {
  ASSERT_TRUE(add().has_value());
  fall_sick();
  auto outcome = add();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().blame, Blame::Environment);
  EXPECT_NE(outcome.error().message.find("CUDA_ERROR_ECC_UNCORRECTABLE"), std::string::npos);

  auto next = add();
  ASSERT_FALSE(next.has_value()) << "nothing may run on a device whose canary fails";
  EXPECT_NE(next.error().message.find("not healthy"), std::string::npos) << next.error().message;
  EXPECT_FALSE(device_->health().has_value());

  ::unlink(file_.c_str());
  auto well = add();
  ASSERT_TRUE(well.has_value()) << well.error().message;
  EXPECT_EQ(well->status, ports::RunStatus::Completed);
}

TEST(Lock, WaitsForWhoeverHoldsTheGpu) {
  std::string notice;
  gpu::GpuOptions options;
  options.notice = [&](const std::string& text) { notice = text; };
  auto device = gpu::GpuDevice::open(0, options);
  ASSERT_TRUE(device.has_value()) << device.error().message;
  ASSERT_TRUE((*device)->health().has_value());
  EXPECT_EQ(notice, "");

  const std::string path =
      os::env("KERNELWRIGHT_RUNTIME_DIR") + "/kernelwright-" + (*device)->info().uuid + ".lock";
  const int held = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  ASSERT_GT(::pwrite(held, "4711\n", 5, 0), 0);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(held);
  });
  EXPECT_TRUE((*device)->health().has_value());
  release.join();
  EXPECT_NE(notice.find("used by process 4711"), std::string::npos) << notice;
}

TEST(Lock, GivesUpInTheEnd) {
  auto first = gpu::GpuLock::take("GPU-test", 1, nullptr);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  auto second = gpu::GpuLock::take("GPU-test", 0.05, nullptr);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().blame, Blame::Environment);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().message;
}

}  // namespace
}  // namespace kw::gpu_suite
