// Runs that end well, and what the checks around them find.
#include "ports/image_pack.h"
#include "suite.h"

namespace kw::gpu_suite {
namespace {

using kernel::Fill;
using kernel::Role;
using ports::RunStatus;
using tensor::DType;

class Run : public Suite {};

TEST_F(Run, TellsWhatTheDeviceIs) {
  const ports::DeviceInfo info = device().info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.target.substr(0, 3), "sm_");
  EXPECT_FALSE(info.is_virtual);
  EXPECT_GT(info.sms, 0);
  EXPECT_GT(info.l2_bytes, 0);
  EXPECT_GE(info.shared_per_block_optin, 49152);
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_EQ(info.uuid.size(), 40u) << info.uuid;
  EXPECT_EQ(info.image, ports::ImageKind::Cubin);
  EXPECT_FALSE(info.driver.empty());
  RecordProperty("device", info.name + ", " + info.target + ", driver " + info.driver);
}

TEST_F(Run, IsHealthy) {
  const Status status = device().health();
  EXPECT_TRUE(status.has_value()) << status.error().message;
}

TEST_F(Run, AddsVectors) { expect_healthy(); }

TEST_F(Run, FindsKernelsInAnyImageOfAPack) {
  ports::Compiled compiled;
  compiled.kind = ports::ImageKind::Ptx;
  const std::string other =
      ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry other()\n{\n  ret;\n}\n";
  compiled.image = ports::pack_images({other, kKernels});
  const auto image = device().load(compiled);
  ASSERT_TRUE(image) << image.error().message;
  Case test = addition(100);
  const auto outcome = device().run(*image, test.program, test.inputs, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->status, RunStatus::Completed) << outcome->message;
  EXPECT_EQ(values<float>(outcome->buffers[2])[99], 297.0f);
  compiled.image.resize(compiled.image.size() - 1);
  EXPECT_FALSE(device().load(compiled));
}

TEST_F(Run, KeepsTheWorkerFromRunToRun) {
  expect_healthy();
  const pid_t worker = device().worker_pid();
  expect_healthy();
  EXPECT_EQ(device().worker_pid(), worker);
}

TEST_F(Run, ShiftsBuffersByTheirAlignment) {
  Case test = addition(1000);
  ports::RunOptions options;
  for (int shift : {4, 16, 100}) {
    options.misalign_bytes = shift;
    ports::RunOutcome outcome = run(test, options);
    ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
    EXPECT_EQ(summary(outcome), "");
    EXPECT_EQ(values<float>(outcome.buffers[2])[999], 2997.0f);
  }
}

TEST_F(Run, PassesNullForAnAbsentInput) {
  Case test = addition(100);
  test.program.buffers[1].present = false;
  test.inputs[1].data.clear();
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(values<float>(outcome.buffers[2])[99], 99.0f);
}

TEST_F(Run, UpdatesInPlaceAndRunsLaunchesInOrder) {
  Case test;
  const int x = test.add("x", Role::Inout, 500);
  test.data<uint32_t>(x)[499] = 40;
  test.launch("increment", 2, 256, {pointer(x), value<uint32_t>(500)});
  test.launch("increment", 2, 256, {pointer(x), value<uint32_t>(500)});
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(values<uint32_t>(outcome.buffers[0])[499], 42u);
  EXPECT_EQ(values<uint32_t>(outcome.buffers[0])[0], 2u);
}

struct Hit {
  const char* name;
  int32_t first;
  uint32_t count;
  const char* summary;
  int64_t element;
};
class Guard : public Suite, public ::testing::WithParamInterface<Hit> {};

TEST_P(Guard, TellsWhatWasHit) {
  const Hit& hit = GetParam();
  Case test;
  const int y = test.add("y", Role::Output, 256);
  test.launch(
      "fill", 2, 256,
      {pointer(y), value<int32_t>(hit.first), value<uint32_t>(hit.count), value<uint32_t>(5)});
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(summary(outcome), hit.summary);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(outcome.findings[0].element, hit.element) << outcome.findings[0].message;
  EXPECT_EQ(outcome.findings[0].kernel, "fill");
}

INSTANTIATE_TEST_SUITE_P(Suite, Guard,
                         ::testing::Values(Hit{"OnePast", 0, 257, "out-of-bounds-global y", 256},
                                           Hit{"SomePast", 0, 300, "out-of-bounds-global y", 256},
                                           Hit{"Before", -2, 258, "out-of-bounds-global y", -1},
                                           Hit{"HalfWritten", 0, 128, "output-not-written y", 128},
                                           Hit{"OneMissing", 0, 255, "output-not-written y", 255}),
                         [](const auto& hit) { return hit.param.name; });

TEST_F(Run, FindsWritesToInputs) {
  Case test;
  const int x = test.add("x", Role::Input, 100);
  test.launch("fill", 1, 256,
              {pointer(x), value<int32_t>(30), value<uint32_t>(1), value<uint32_t>(9)});
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  ASSERT_EQ(summary(outcome), "write-to-input x");
  EXPECT_EQ(outcome.findings[0].element, 30);
}

TEST_F(Run, ZeroesScratchWhereAskedFor) {
  Case test;
  const int zeroed = test.add("zeroed", Role::Scratch, 64, DType::Uint32, Fill::Zero);
  const int y = test.add("y", Role::Output, 64);
  test.launch("increment", 1, 64, {pointer(zeroed), value<uint32_t>(64)});
  test.launch("copy16", 1, 64, {pointer(zeroed), pointer(y), value<uint64_t>(16)});
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(summary(outcome), "");
  EXPECT_EQ(values<uint32_t>(outcome.buffers[1])[63], 1u);
}

TEST_F(Run, FindsKeptScratchThatIsNotZeroAfterwards) {
  for (uint32_t left : {0u, 3u}) {
    Case test;
    const int kept = test.add("kept", Role::Scratch, 64, DType::Uint32, Fill::ZeroKept);
    test.launch("increment", 1, 64, {pointer(kept), value<uint32_t>(64)});
    test.launch("fill", 1, 64,
                {pointer(kept), value<int32_t>(0), value<uint32_t>(64), value<uint32_t>(left)});
    ports::RunOutcome outcome = run(test);
    ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
    EXPECT_EQ(summary(outcome), left == 0 ? "" : "scratch-not-restored kept");
  }
}

TEST_F(Run, FindsStateKeptInTheModule) {
  for (int call = 0; call < 2; ++call) {
    Case test;
    const int out = test.add("out", Role::Output, 1);
    test.launch("bump_state", 1, 1, {pointer(out)});
    ports::RunOutcome outcome = run(test);
    ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
    EXPECT_EQ(summary(outcome), "state-across-calls state");
    EXPECT_EQ(values<uint32_t>(outcome.buffers[0])[0], 1u) << "the state was not put back";
  }
}

TEST_F(Run, SpreadsStridedTensors) {
  Case test;
  const int x = test.add("x", Role::Inout, 6);
  test.program.buffers[0].shape = test.inputs[0].shape = {2, 3};
  test.program.buffers[0].strides = {4, 1};  // one element between the rows
  test.program.buffers[0].bytes = 7 * 4;
  for (uint32_t i = 0; i < 6; ++i) test.data<uint32_t>(x)[i] = 10 * i;
  test.launch("increment", 1, 32, {pointer(x), value<uint32_t>(3)});
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(values<uint32_t>(outcome.buffers[0]), (std::vector<uint32_t>{1, 11, 21, 30, 40, 50}));
}

TEST_F(Run, CatchesPrintf) {
  Case test;
  test.launch("hello", 2, 1, {});
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_NE(outcome.printed.find("hello from block 0\n"), std::string::npos) << outcome.printed;
  EXPECT_NE(outcome.printed.find("hello from block 1\n"), std::string::npos) << outcome.printed;
}

TEST_F(Run, OptsInToLargeSharedMemory) {
  const auto words = static_cast<uint32_t>(device().info().shared_per_block_optin / 4);
  Case test;
  const int out = test.add("out", Role::Output, 1);
  test.launch("shared_last", 1, 32, {pointer(out), value<uint32_t>(words)}).shared_bytes =
      words * 4;
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(values<uint32_t>(outcome.buffers[0])[0], words);
}

TEST_F(Run, LaunchesCooperatively) {
  const auto blocks = static_cast<uint32_t>(device().info().sms * 2);
  Case test;
  const int counter = test.add("counter", Role::Scratch, 1, DType::Uint32, Fill::Zero);
  const int out = test.add("out", Role::Output, blocks);
  test.launch("grid_meet", blocks, 1, {pointer(counter), pointer(out), value<uint32_t>(blocks)})
      .cooperative = true;
  ports::RunOutcome outcome = run(test);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  for (uint32_t seen : values<uint32_t>(outcome.buffers[1])) EXPECT_EQ(seen, blocks);
}

TEST_F(Run, LaunchesClusters) {
  if (device().info().target < "sm_90" && device().info().target.size() == 5) {
    GTEST_SKIP() << "clusters need sm_90, this is " << device().info().target;
  }
  Case test;
  const int out = test.add("out", Role::Output, 8);
  test.launch("cluster_rank", 8, 1, {pointer(out)}).cluster.x = 4;
  ports::RunOutcome outcome = run(test, {}, kClusterKernel);
  ASSERT_EQ(outcome.status, RunStatus::Completed) << outcome.message;
  EXPECT_EQ(values<uint32_t>(outcome.buffers[0]), (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
}

}  // namespace
}  // namespace kw::gpu_suite
