// Candidates that fail: each is a typed outcome, and the next candidate finds a healthy device.
#include <signal.h>

#include <chrono>
#include <thread>

#include "suite.h"

namespace kw::gpu_suite {
namespace {

using kernel::Role;
using ports::RunStatus;

class Fault : public Suite {
 protected:
  /// The outcome must be as told, in a worker that is then replaced.
  void expect_fault(const Case& test, const ports::RunOptions& options, RunStatus status,
                    const std::string& says) {
    ports::RunOutcome outcome = run(test, options);
    EXPECT_EQ(ports::run_status_name(outcome.status), std::string(ports::run_status_name(status)))
        << outcome.message;
    EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
    EXPECT_EQ(device().worker_pid(), 0) << "the worker is still there";
    expect_healthy();
  }
  void expect_finding(const Case& test, const std::string& found) {
    EXPECT_EQ(summary(run(test)), found);
    expect_healthy();
  }
  void expect_refusal(const Case& test, const std::string& says) {
    ports::RunOutcome outcome = run(test);
    EXPECT_EQ(outcome.status, RunStatus::Refused) << outcome.message;
    EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
    EXPECT_NE(device().worker_pid(), 0) << "a refusal costs no worker";
  }
};

Case poking(uint64_t offset) {
  Case test;
  const int x = test.add("x", Role::Output, 16);
  test.launch("poke", 1, 1, {pointer(x), value<uint64_t>(offset)});
  return test;
}

TEST_F(Fault, IllegalAddress) {
  Case test;
  test.launch("poke", 1, 1, {value<uint64_t>(0), value<uint64_t>(64)});
  expect_fault(test, {}, RunStatus::Faulted, "running poke (line 7): CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(Fault, MisalignedAddress) {
  expect_fault(poking(1), {}, RunStatus::Faulted,
               "running poke (line 7): CUDA_ERROR_MISALIGNED_ADDRESS");
  expect_finding(poking(1), "misaligned ");
}

TEST_F(Fault, Trap) {
  Case test;
  test.launch("trap_now", 1, 1, {});
  expect_fault(test, {}, RunStatus::Faulted, "running trap_now (line 7): CUDA_ERROR");
}

TEST_F(Fault, InfiniteLoop) {
  Case test;
  test.launch("spin", 1, 1, {value(~uint64_t{0})});
  ports::RunOptions options;
  options.timeout_seconds = 2;
  const auto started = std::chrono::steady_clock::now();
  expect_fault(test, options, RunStatus::Hung,
               "running spin (line 7): not finished within the time limit of 2 s");
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  EXPECT_GE(seconds, 2);
  EXPECT_LT(seconds, 30);
}

TEST_F(Fault, KilledWorker) {
  expect_healthy();  // so that there is a worker to kill
  const pid_t worker = device().worker_pid();
  ASSERT_GT(worker, 0);
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ::kill(worker, SIGKILL);
  });
  Case test;
  test.launch("spin", 1, 1, {value(~uint64_t{0})});
  ports::RunOptions options;
  options.timeout_seconds = 20;
  expect_fault(test, options, RunStatus::WorkerLost, "killed by signal 9 (SIGKILL)");
  killer.join();
}

TEST_F(Fault, WorkerKilledWhileIdle) {
  expect_healthy();
  const pid_t worker = device().worker_pid();
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  expect_healthy();  // the next candidate is not blamed for it
  EXPECT_NE(device().worker_pid(), worker);
}

TEST_F(Fault, OutOfMemory) {
  Case test = addition(10);
  test.add("huge", Role::Scratch, int64_t{1} << 38);  // 1 TiB
  ports::RunOutcome outcome = run(test);
  EXPECT_EQ(outcome.status, RunStatus::OutOfMemory) << outcome.message;
  EXPECT_NE(outcome.message.find("huge"), std::string::npos) << outcome.message;
  expect_healthy();
}

TEST_F(Fault, OutputLargerThanTheDevice) {
  Case test = addition(10);
  test.add("huge", Role::Output, int64_t{1} << 38);
  ports::RunOutcome outcome = run(test);
  EXPECT_EQ(outcome.status, RunStatus::OutOfMemory) << outcome.message;
}

TEST_F(Fault, TimingOfAFaultingKernel) {
  Case test = poking(uint64_t{1} << 46);
  const ports::TimedProgram timed{load(), &test.program, {&test.inputs}};
  auto outcome = device().time({timed}, {});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->status, RunStatus::Faulted) << outcome->message;
  expect_healthy();
}

TEST_F(Fault, TimingOfAHangingKernel) {
  Case test;
  test.launch("spin", 1, 1, {value(~uint64_t{0})});
  const ports::TimedProgram timed{load(), &test.program, {&test.inputs}};
  ports::TimeProtocol protocol;
  protocol.timeout_seconds = 1;
  auto outcome = device().time({timed}, protocol);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->status, RunStatus::Hung) << outcome->message;
  expect_healthy();
}

TEST_F(Fault, RefusesWhatCannotBeLaunched) {
  Case block = addition(10);
  block.program.launches[0].block.x = 2048;
  expect_refusal(block, "block (2048, 1, 1) exceeds");

  Case empty = addition(10);
  empty.program.launches[0].grid.x = 0;
  expect_refusal(empty, "is empty");

  Case shared = addition(10);
  shared.program.launches[0].shared_bytes = 1 << 20;
  expect_refusal(shared, "1048576 bytes of shared memory");

  Case cluster = addition(1000);
  cluster.program.launches[0].cluster.x = 3;
  expect_refusal(cluster, "not a multiple of cluster (3, 1, 1)");

  Case pdl = addition(10);
  pdl.program.launches[0].pdl = true;
  expect_refusal(pdl, "pdl");

  Case unknown = addition(10);
  unknown.program.launches[0].entry = "no_such_kernel";
  expect_refusal(unknown, "no_such_kernel");

  Case cooperative = addition(10);
  cooperative.program.launches[0].cooperative = true;
  cooperative.program.launches[0].grid.x = 1 << 20;
  expect_refusal(cooperative, "can be resident");
}

TEST_F(Fault, RefusesWrongParameters) {
  Case few = addition(10);
  few.program.launches[0].params.pop_back();
  Case narrow = addition(10);
  narrow.program.launches[0].params[3] = value<uint16_t>(10);
  if (run(addition(10)).status != RunStatus::Completed) GTEST_FAIL();
  ports::RunOutcome outcome = run(few);
  if (outcome.status == RunStatus::Completed)
    GTEST_SKIP() << "this driver does not tell parameter sizes";
  expect_refusal(few, "takes 4 parameters, the launch gives 3");
  expect_refusal(narrow, "is 4 bytes in the kernel, 2 in the launch");
}

TEST_F(Fault, BadImagesAreTheCallersFault) {
  ports::Compiled compiled;
  compiled.kind = ports::ImageKind::Cubin;
  compiled.image =
      "\x7f"
      "ELF";
  EXPECT_FALSE(device().load(compiled).has_value());
  compiled.kind = ports::ImageKind::Ptx;
  for (const char* bytes : {"this is no PTX", "",
                            "\x7f"
                            "ELF"}) {
    compiled.image = bytes;
    auto image = device().load(compiled);
    ASSERT_FALSE(image.has_value());
    EXPECT_EQ(image.error().blame, Blame::Input) << image.error().message;
  }
  expect_healthy();
}

TEST_F(Fault, BadProgramsAreTheCallersFault) {
  Case wrong_size = addition(10);
  wrong_size.inputs[0].data.resize(4);
  Case wrong_type = addition(10);
  wrong_type.inputs[0].dtype = tensor::DType::Int32;
  Case no_buffer = addition(10);
  no_buffer.program.launches[0].params[0].buffer = 17;
  Case outside = addition(10);
  outside.program.buffers[0].strides = {2};
  Case few_inputs = addition(10);
  few_inputs.inputs.pop_back();
  for (const Case* test : {&wrong_size, &wrong_type, &no_buffer, &outside, &few_inputs}) {
    auto outcome = device().run(load(), test->program, test->inputs, {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().blame, Blame::Input) << outcome.error().message;
  }
  auto outcome = device().run(12345, addition(10).program, addition(10).inputs, {});
  ASSERT_FALSE(outcome.has_value());
}

}  // namespace
}  // namespace kw::gpu_suite
