// Blocks that wait for each other, deadlocks, block orders and host threads.
#include "vgpu/scheduler.h"

#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

// Each block waits for the flag of the block before it, then sets its own: a chained scan.
constexpr const char* kChain = R"(
ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [f]; mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd3, %r1, 4, %rd2;
mad.wide.u32 %rd4, %r1, 4, %rd1; mov.u32 %r5, 0; setp.eq.s32 %p1, %r1, FIRST; @%p1 bra GO;
W: ld.acquire.gpu.global.u32 %r2, [%rd3+STEP]; setp.eq.s32 %p2, %r2, 0; @%p2 bra W;
ld.global.u32 %r5, [%rd4+STEP];
GO: add.s32 %r6, %r5, 1; st.global.u32 [%rd4], %r6; membar.gl; st.relaxed.gpu.global.u32 [%rd3], 1;
)";

std::string chain(const char* first, const char* step) {
  std::string text = kChain;
  for (size_t at; (at = text.find("FIRST")) != std::string::npos;) text.replace(at, 5, first);
  for (size_t at; (at = text.find("STEP")) != std::string::npos;) text.replace(at, 4, step);
  return entry(".param .u64 y, .param .u64 f", text);
}

TEST(Schedule, LaterBlocksMayWaitForEarlierOnes) {
  for (const uint64_t seed : {0, 1, 7}) {
    Bench bench(chain("0", "-4"));
    const int y = bench.output("y", 5000, tensor::DType::Int32),
              f = bench.scratch("f", 5000, kernel::Fill::Zero);
    bench.launch("k", {5000}, {1}).params = {Bench::pointer(y), Bench::pointer(f)};
    bench.options.schedule_seed = seed;
    bench.run();
    EXPECT_EQ(bench.findings(), "") << "seed " << seed;
    EXPECT_EQ(bench.read<int>(y)[4999], 5000);
  }
}

TEST(Schedule, EarlierBlocksMayWaitForResidentLaterOnes) {
  Bench bench(chain("99", "4"));
  const int y = bench.output("y", 100, tensor::DType::Int32),
            f = bench.scratch("f", 100, kernel::Fill::Zero);
  bench.launch("k", {100}, {1}).params = {Bench::pointer(y), Bench::pointer(f)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.read<int>(y)[0], 100);
}

TEST(Schedule, WaitingForABlockThatCannotStartIsADeadlock) {
  Bench bench(chain("9999", "4"));
  const int y = bench.output("y", 10000, tensor::DType::Int32),
            f = bench.scratch("f", 10000, kernel::Fill::Zero);
  bench.launch("k", {10000}, {1024}).params = {Bench::pointer(y), Bench::pointer(f)};
  bench.program.launches[0].block = {1024};
  bench.run();
  const record::Finding* found = bench.found(FindingKind::Deadlock);
  ASSERT_NE(found, nullptr) << bench.findings();
  EXPECT_NE(found->message.find("of the 10000 blocks"), std::string::npos) << found->message;
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Stopped);
}

struct Wait {
  const char* name;
  const char* body;  // %rd1: two zeros in global memory, sh: in shared memory
};

std::string waiting(const Wait& c) {
  return entry(".param .u64 f, .param .u64 y", std::string("ld.param.u64 %rd1, [f]; ") + c.body,
               ".shared .align 4 .b8 sh[4];");
}

class WaitForNobody : public ::testing::TestWithParam<Wait> {};

TEST_P(WaitForNobody, IsADeadlock) {
  for (const int threads : {1, 2}) {
    Bench bench(waiting(GetParam()));
    const int f = bench.scratch("f", 2, kernel::Fill::Zero);
    const int y = bench.scratch("y", 2, kernel::Fill::Zero);
    bench.launch("k", {2}, {64}).params = {Bench::pointer(f), Bench::pointer(y)};
    bench.options.threads = threads;
    bench.run();
    const record::Finding* found = bench.found(FindingKind::Deadlock);
    ASSERT_NE(found, nullptr) << bench.findings();
    EXPECT_NE(found->message.find("no other thread"), std::string::npos) << found->message;
  }
}

const Wait kWaits[] = {
    {"Sleeping",
     "W: ld.volatile.global.u32 %r1, [%rd1]; nanosleep.u32 100; setp.eq.s32 %p1, %r1, 0; "
     "@%p1 bra W;"},
    {"SleepingLonger",
     "mov.u32 %r2, 8; W: nanosleep.u32 %r2; shl.b32 %r2, %r2, 1; min.u32 %r2, %r2, 256; "
     "nanosleep.u32 %r2; ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; "
     "@%p1 bra W;"},
    {"TwoFlags",
     "W: ld.relaxed.gpu.global.u32 %r1, [%rd1]; ld.relaxed.gpu.global.u32 %r2, [%rd1+4]; "
     "or.b32 %r3, %r1, %r2; setp.eq.s32 %p1, %r3, 0; @%p1 bra W;"},
    {"PlainLoadAndFence",
     "W: ld.global.u32 %r1, [%rd1]; membar.gl; setp.eq.s32 %p1, %r1, 0; @%p1 bra W;"},
    {"AddingNothing",
     "W: atom.global.add.u32 %r1, [%rd1], 0; setp.eq.s32 %p1, %r1, 0; @%p1 bra W;"},
    {"StoringLocally",
     ".local .align 4 .b8 mine[4]; mov.u64 %rd2, mine; cvta.local.u64 %rd3, %rd2; "
     "W: ld.volatile.global.u32 %r1, [%rd1]; st.local.u32 [%rd2], %r1; st.u32 [%rd3], %r1; "
     "setp.eq.s32 %p1, %r1, 0; @%p1 bra W;"},
    {"LanesApart",
     "mov.u32 %r4, %laneid; and.b32 %r5, %r4, 3; setp.lt.u32 %p2, %r5, 2; @%p2 bra W; "
     "V: ld.volatile.global.u32 %r1, [%rd1+4]; setp.eq.s32 %p1, %r1, 0; @%p1 bra V; bra E; "
     "W: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra W; E:"},
    {"BetweenBarriers",
     "mov.u32 %r4, %tid.x; setp.ne.s32 %p2, %r4, 0; W: bar.sync 0; @%p2 bra R; "
     "ld.volatile.global.u32 %r1, [%rd1]; st.shared.u32 [sh], %r1; R: bar.sync 0; "
     "ld.shared.u32 %r2, [sh]; setp.eq.s32 %p1, %r2, 0; @%p1 bra W;"},
    {"Counting",
     "mov.u32 %r2, 0; W: add.s32 %r2, %r2, 1; ld.volatile.global.u32 %r1, [%rd1]; "
     "setp.eq.s32 %p1, %r1, 0; @%p1 bra W; ld.param.u64 %rd2, [y]; st.global.u32 [%rd2], %r2;"},
};
INSTANTIATE_TEST_SUITE_P(Schedule, WaitForNobody, ::testing::ValuesIn(kWaits),
                         [](const auto& c) { return std::string(c.param.name); });

// A warp that stops polling after some time does not wait forever.
TEST(Schedule, BoundedWaitsEnd) {
  const Wait bounded{"",
                     "mov.u32 %r2, 0; W: add.s32 %r2, %r2, 1; ld.volatile.global.u32 %r1, [%rd1]; "
                     "setp.eq.s32 %p1, %r1, 0; setp.lt.and.u32 %p1, %r2, 5000, %p1; @%p1 bra W; "
                     "ld.param.u64 %rd2, [y]; atom.global.add.u32 %r3, [%rd2], %r2;"};
  Bench bench(waiting(bounded));
  const int f = bench.scratch("f", 2, kernel::Fill::Zero);
  const int y = bench.buffer<int32_t>("y", testing::Role::Inout, tensor::DType::Int32, {0});
  bench.launch("k", {3}, {64}).params = {Bench::pointer(f), Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.read<int>(y)[0], 3 * 64 * 5000);
}

// Waiting by plain loads is wrong, but on a device the wait may end.
TEST(Schedule, PlainPollingLetsOthersRun) {
  const Wait plain{"",
                   "mov.u32 %r4, %ctaid.x; setp.eq.s32 %p2, %r4, 1; @%p2 bra SET; "
                   "W: ld.global.u32 %r1, [%rd1]; membar.gl; setp.eq.s32 %p1, %r1, 0; @%p1 bra W; "
                   "ld.param.u64 %rd2, [y]; st.global.u32 [%rd2], %r1; bra E; "
                   "SET: st.global.u32 [%rd1], 7; E:"};
  Bench bench(waiting(plain));
  const int f = bench.scratch("f", 2, kernel::Fill::Zero);
  const int y = bench.buffer<int32_t>("y", testing::Role::Inout, tensor::DType::Int32, {0});
  bench.launch("k", {2}, {1}).params = {Bench::pointer(f), Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.found(FindingKind::Deadlock), nullptr) << bench.findings();
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Completed) << bench.findings();
  EXPECT_EQ(bench.read<int>(y)[0], 7);
}

TEST(Schedule, OneWarpMayWaitForAnother) {
  Bench bench(entry(".param .u64 y",
                    R"(ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;
@%p1 st.volatile.shared.u32 [s], 0; bar.sync 0; setp.lt.u32 %p2, %r1, 32; @!%p2 bra SET;
W: ld.volatile.shared.u32 %r2, [s]; setp.eq.s32 %p3, %r2, 0; @%p3 bra W; bra E;
SET: st.volatile.shared.u32 [s], 5; mov.u32 %r2, 5;
E: mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r2;)",
                    ".shared .align 4 .b8 s[4];"));
  const int y = bench.output("y", 64, tensor::DType::Int32);
  bench.launch("k", {1}, {64}).params = {Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.read<int>(y)[0], 5);
}

TEST(Schedule, OrdersAreFoundByPermutingBlocks) {
  for (const bool add : {false, true}) {
    Bench bench(entry(
        ".param .u64 y",
        std::string("ld.param.u64 %rd1, [y]; mov.u32 %r1, %ctaid.x; ") +
            (add ? "red.global.add.u32 [%rd1], %r1;" : "atom.global.exch.b32 %r2, [%rd1], %r1;")));
    const int y = bench.buffer<int32_t>("y", testing::Role::Inout, tensor::DType::Int32, {0});
    bench.launch("k", {8}, {1}).params = {Bench::pointer(y)};
    bench.options.check_order = true;
    bench.run();
    const record::Finding* f = bench.found(FindingKind::OrderDependence);
    EXPECT_EQ(f != nullptr, !add) << bench.findings();
  }
}

TEST(Schedule, RoundingOfSharedAtomicsIsAWarning) {
  Bench bench(entry(".param .u64 y, .param .u64 x",
                    R"(ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; mov.u32 %r1, %tid.x;
mad.wide.u32 %rd3, %r1, 4, %rd2; ld.global.f32 %f1, [%rd3]; setp.eq.s32 %p1, %r1, 0;
@%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.f32 [s], %f1; bar.sync 0;
@!%p1 bra E; ld.shared.f32 %f2, [s]; st.global.f32 [%rd1], %f2; E:)",
                    ".shared .align 4 .b8 s[4];"));
  const int y = bench.output("y", 1, tensor::DType::Fp32);
  std::vector<float> values;
  for (int i = 0; i < 256; ++i) values.push_back(1.0f / static_cast<float>(3 * i + 1));
  const int x = bench.input("x", values);
  bench.launch("k", {1}, {256}).params = {Bench::pointer(y), Bench::pointer(x)};
  bench.options.check_order = true;
  bench.run();
  const record::Finding* f = bench.found(FindingKind::OrderDependence);
  ASSERT_NE(f, nullptr) << bench.findings();
  EXPECT_EQ(f->certainty, record::Certainty::Warning) << f->message;
}

TEST(Schedule, RoundingOfFloatAtomicsIsAWarning) {
  Bench bench(entry(".param .u64 y, .param .u64 x",
                    "ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; mov.u32 %r1, %ctaid.x; "
                    "mad.wide.u32 %rd3, %r1, 4, %rd2; "
                    "ld.global.f32 %f1, [%rd3]; red.global.add.f32 [%rd1], %f1;"));
  const int y = bench.buffer<float>("y", testing::Role::Inout, tensor::DType::Fp32, {0.0f});
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(1.0f / static_cast<float>(3 * i + 1));
  const int x = bench.input("x", values);
  bench.launch("k", {64}, {1}).params = {Bench::pointer(y), Bench::pointer(x)};
  bench.options.check_order = true;
  bench.run();
  const record::Finding* f = bench.found(FindingKind::OrderDependence);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->certainty, record::Certainty::Warning);
}

TEST(Schedule, PermutedOrdersHoldEveryBlockOnce) {
  for (const uint64_t seed : {0, 1, 42}) {
    BlockOrder order(1000, 64, seed);
    std::vector<bool> seen(1000, false);
    for (uint64_t i = 0; i < 1000; ++i) {
      ASSERT_FALSE(seen[order[i]]);
      seen[order[i]] = true;
      EXPECT_EQ(order[i] / 64, i / 64) << "blocks stay inside their window";
    }
  }
}

// Findings and outputs must be the same for every number of host threads.
TEST(Schedule, ThreadsChangeNothing) {
  for (const bool race : {false, true}) {
    std::vector<std::string> reports;
    std::vector<std::vector<int>> outputs;
    for (const int threads : {1, 2, 5}) {
      Bench bench(
          entry(".param .u64 y",
                std::string("ld.param.u64 %rd1, [y]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; "
                            "mad.lo.s32 %r3, %r1, 64, %r2; mad.wide.u32 %rd2, %r3, 4, %rd1; "
                            "st.global.u32 [%rd2], %r3; ") +
                    (race ? "ld.global.u32 %r4, [%rd1+1024]; st.global.u32 [%rd2], %r4;" : "")));
      const int y = bench.output("y", 6400, tensor::DType::Int32);
      bench.launch("k", {100}, {64}).params = {Bench::pointer(y)};
      bench.options.threads = threads;
      bench.run();
      reports.push_back(bench.findings());
      outputs.push_back(bench.read<int>(y));
    }
    EXPECT_EQ(reports[0].empty(), !race);
    for (size_t i = 1; i < reports.size(); ++i) {
      EXPECT_EQ(reports[i], reports[0]);
      EXPECT_EQ(outputs[i], outputs[0]);
    }
  }
}

}  // namespace
}  // namespace kw::vgpu
