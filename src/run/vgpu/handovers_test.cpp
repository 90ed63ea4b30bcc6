// Data passed from block to block by strong stores and a flag: a warning without a fence, no
// finding with one.
#include "vgpu/handovers.h"

#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

struct HandoversCase {
  const char* name;
  const char *give, *take;  // %rd1: value, flag, other flag, counter; %rd2: y
  bool warns;
};
void PrintTo(const HandoversCase& c, std::ostream* out) { *out << c.name; }

constexpr const char* kWait =
    "W: ld.volatile.global.u32 %r3, [%rd1+4]; setp.eq.s32 %p2, %r3, 0; @%p2 bra W; ";

class Handover : public ::testing::TestWithParam<HandoversCase> {};

TEST_P(Handover, NeedsAFence) {
  const HandoversCase& c = GetParam();
  for (const char* giver : {"0", "1"}) {
    Bench bench(
        entry(".param .u64 f, .param .u64 y",
              std::string("ld.param.u64 %rd1, [f]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %ctaid.x; "
                          "setp.ne.s32 %p1, %r1, ") +
                  giver + "; @%p1 bra T; " + c.give + "bra E; T: " + c.take +
                  "st.global.u32 [%rd2], %r4; E:"));
    const int f = bench.scratch("f", 4, kernel::Fill::Zero);
    const int y = bench.output("y", 1, tensor::DType::Int32);
    bench.launch("k", {2}, {1}).params = {Bench::pointer(f), Bench::pointer(y)};
    bench.run();
    EXPECT_EQ(bench.read<int>(y)[0], 7);
    if (!c.warns) {
      EXPECT_EQ(bench.findings(), "") << "giver " << giver;
      continue;
    }
    const record::Finding* found = bench.found(FindingKind::GlobalRaceBetweenBlocks);
    ASSERT_NE(found, nullptr) << "giver " << giver << "\n" << bench.findings();
    EXPECT_EQ(found->certainty, record::Certainty::Warning);
    EXPECT_EQ(found->buffer, "f");
    EXPECT_EQ(found->element, 0);
    EXPECT_NE(found->message.find("no __threadfence()"), std::string::npos) << found->message;
    EXPECT_EQ(bench.outcome.findings.size(), 1u) << bench.findings();
  }
}

const std::string kTake = std::string(kWait) + "ld.volatile.global.u32 %r4, [%rd1]; ";
const std::string kTakeByAtomic =
    "W: atom.global.add.u32 %r3, [%rd1+4], 0; setp.eq.s32 %p2, %r3, 0; @%p2 bra W; "
    "ld.relaxed.gpu.global.u32 %r4, [%rd1]; ";

INSTANTIATE_TEST_SUITE_P(
    Cases, Handover,
    ::testing::Values(
        HandoversCase{"NoFence",
                      "st.volatile.global.u32 [%rd1], 7; st.volatile.global.u32 [%rd1+4], 1; ",
                      kTake.c_str(), true},
        HandoversCase{"AtomicFlag",
                      "st.relaxed.gpu.global.u32 [%rd1], 7; atom.global.exch.b32 %r5, "
                      "[%rd1+4], 1; ",
                      kTakeByAtomic.c_str(), true},
        HandoversCase{
            "FenceTooEarly",
            "membar.gl; st.volatile.global.u32 [%rd1], 7; st.volatile.global.u32 [%rd1+4], 1; ",
            kTake.c_str(), true},
        HandoversCase{
            "FenceForTheBlockOnly",
            "st.volatile.global.u32 [%rd1], 7; membar.cta; st.volatile.global.u32 [%rd1+4], 1; ",
            kTake.c_str(), true},
        HandoversCase{
            "Fence",
            "st.volatile.global.u32 [%rd1], 7; membar.gl; st.volatile.global.u32 [%rd1+4], 1; ",
            kTake.c_str(), false},
        HandoversCase{"Release",
                      "st.volatile.global.u32 [%rd1], 7; st.release.gpu.global.u32 [%rd1+4], 1; ",
                      kTake.c_str(), false},
        HandoversCase{
            "ReleasingAtomic",
            "st.relaxed.gpu.global.u32 [%rd1], 7; atom.release.gpu.global.exch.b32 %r5, [%rd1+4], "
            "1; ",
            kTakeByAtomic.c_str(), false},
        // Both words were written under a lock that was released with a fence.
        HandoversCase{
            "UnderALock",
            "st.volatile.global.u32 [%rd1], 7; st.volatile.global.u32 [%rd1+8], 1; membar.gl; "
            "atom.global.exch.b32 %r5, [%rd1+4], 1; ",
            "W: atom.global.add.u32 %r3, [%rd1+4], 0; setp.eq.s32 %p2, %r3, 0; @%p2 bra W; "
            "membar.gl; ld.volatile.global.u32 %r5, [%rd1+8]; ld.volatile.global.u32 %r4, [%rd1]; ",
            false},
        // A flag that is set after the one seen first orders nothing.
        HandoversCase{
            "TwoFlags", "st.volatile.global.u32 [%rd1+4], 1; st.volatile.global.u32 [%rd1+8], 7; ",
            "W: ld.volatile.global.u32 %r3, [%rd1+4]; setp.eq.s32 %p2, %r3, 0; @%p2 bra W; "
            "V: ld.volatile.global.u32 %r4, [%rd1+8]; setp.eq.s32 %p2, %r4, 0; @%p2 bra V; ",
            false},
        // The value is its own flag.
        HandoversCase{
            "OneWord", "st.volatile.global.u32 [%rd1], 7; ",
            "W: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.s32 %p2, %r4, 0; @%p2 bra W; ", false}),
    [](const auto& c) { return std::string(c.param.name); });

// The last block to increment the counter reads what all others stored. The counter keeps all its
// writers.
TEST(Handovers, CountersPassOnAllTheirWriters) {
  for (const bool fence : {false, true}) {
    Bench bench(
        entry(".param .u64 f, .param .u64 y",
              std::string("ld.param.u64 %rd1, [f]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %ctaid.x; "
                          "mad.wide.u32 %rd3, %r1, 4, %rd1; st.volatile.global.u32 [%rd3+4], 5; ") +
                  (fence ? "membar.gl; " : "") +
                  "atom.global.add.u32 %r2, [%rd1], 1; setp.ne.s32 %p1, %r2, 3; @%p1 bra E; "
                  "ld.volatile.global.u32 %r3, [%rd1+4]; ld.volatile.global.u32 %r4, [%rd1+8]; "
                  "add.s32 %r5, %r3, %r4; st.global.u32 [%rd2], %r5; E:"));
    const int f = bench.scratch("f", 5, kernel::Fill::Zero);
    const int y = bench.output("y", 1, tensor::DType::Int32);
    bench.launch("k", {4}, {1}).params = {Bench::pointer(f), Bench::pointer(y)};
    bench.run();
    EXPECT_EQ(bench.read<int>(y)[0], 10);
    EXPECT_EQ(bench.findings().empty(), fence) << bench.findings();
    EXPECT_EQ(bench.outcome.findings.size(), fence ? 0u : 2u) << bench.findings();
  }
}

}  // namespace
}  // namespace kw::vgpu
