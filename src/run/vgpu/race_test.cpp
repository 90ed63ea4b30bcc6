// Races in shared and global memory: every order of accesses, what orders them, and what must not
// be reported.
#include <algorithm>
#include <set>

#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

struct RaceCase {
  const char* name;
  const char* body;
  const char* kind;  // finding_name; "": no finding is allowed
};
void PrintTo(const RaceCase& c, std::ostream* out) { *out << c.name; }

std::string name_of(const ::testing::TestParamInfo<RaceCase>& row) { return row.param.name; }

// %r1 = tid, %r2 = address of s, %r4 = address of s[tid], %rd1 = y, %rd4 = address of y[tid].
constexpr const char* kProlog = R"(
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3;
cvt.u64.u32 %rd3, %r3; add.s64 %rd4, %rd1, %rd3;
)";
constexpr const char* kShared = ".shared .align 16 .b8 s[1024];";

class SharedRace : public ::testing::TestWithParam<RaceCase> {};

TEST_P(SharedRace, IsToldByBarriersAlone) {
  const RaceCase& c = GetParam();
  // Both orders of warps: the findings must not depend on the schedule.
  for (const uint64_t seed : {0, 1}) {
    Bench bench(entry(".param .u64 y", std::string(kProlog) + c.body + "st.global.u32 [%rd4], 1;",
                      kShared));
    const int y = bench.output("y", 64, tensor::DType::Int32);
    bench.launch("k", {1}, {64}).params = {Bench::pointer(y)};
    bench.options.schedule_seed = seed;
    bench.run();
    if (*c.kind == 0) {
      EXPECT_EQ(bench.findings(), "") << "seed " << seed;
    } else {
      const auto kind = record::finding_from_name(c.kind);
      ASSERT_TRUE(kind.has_value());
      EXPECT_NE(bench.found(*kind), nullptr) << "seed " << seed << ":\n" << bench.findings();
    }
  }
}

std::vector<std::string> kinds_at_lines(const Bench& bench) {
  std::vector<std::string> told;
  for (const record::Finding& f : bench.outcome.findings)
    told.push_back(std::string(record::finding_name(f.kind)) + " " +
                   std::to_string(std::min(f.at.line, f.other_at->line)));
  return told;
}

// Each element is read by a neighbouring thread, in the same warp or in the next.
TEST(SharedRaces, OfWarpsAreToldBeforeThoseOfLanes) {
  const std::string written = ".loc 1 4 1\nst.shared.u32 [%r4], %r1;\n";
  const std::string read =
      ".loc 1 5 1\nxor.b32 %r5, %r3, 4; add.s32 %r5, %r5, %r2;\n"
      "ld.shared.u32 %r6, [%r5];\n";
  const std::string of_warps =
      ".loc 1 7 1\nadd.s32 %r5, %r3, 4; and.b32 %r5, %r5, 255;\n"
      "add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];\n";
  const std::pair<std::string, std::set<std::string>> cases[] = {
      {written + read, {"missing-syncwarp 4"}},
      {written + of_warps, {"shared-race 4"}},
      {written + read + "bar.sync 0;\n.loc 1 6 1\nst.shared.u32 [%r4], %r1;\n" + of_warps,
       {"shared-race 6", "missing-syncwarp 4"}},
  };
  for (const auto& [body, expected] : cases) {
    Bench bench(entry(".param .u64 y", kProlog + body + "st.global.u32 [%rd4], 1;",
                      std::string(".file 1 \"k.cu\"\n") + kShared));
    const int y = bench.output("y", 64, tensor::DType::Int32);
    bench.launch("k", {1}, {64}).params = {Bench::pointer(y)};
    bench.run();
    const std::vector<std::string> told = kinds_at_lines(bench);
    EXPECT_EQ(std::set<std::string>(told.begin(), told.end()), expected) << bench.findings();
    const bool sorted = std::is_sorted(told.begin(), told.end(), std::greater<>());
    EXPECT_TRUE(sorted) << bench.findings();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SharedRace,
    ::testing::Values(
        RaceCase{"OwnElement",
                 "st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r4], %r5;",
                 ""},
        RaceCase{"ReadAfterWrite",
                 "st.shared.u32 [%r4], %r1; xor.b32 %r5, %r3, 128; add.s32 %r5, %r5, %r2; "
                 "ld.shared.u32 %r6, [%r5];",
                 "shared-race"},
        RaceCase{
            "ReadAfterWriteWithBarrier",
            "st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r5, %r3, 128; add.s32 %r5, %r5, %r2; "
            "ld.shared.u32 %r6, [%r5];",
            ""},
        RaceCase{
            "WriteAfterRead",
            "st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r5, %r3, 128; add.s32 %r5, %r5, %r2; "
            "ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r4], %r6;",
            "shared-race"},
        RaceCase{
            "WriteAfterReadOfSeveralWarps",
            "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 7; bar.sync 0; ld.shared.u32 %r6, "
            "[s]; "
            "setp.eq.s32 %p2, %r1, 40; @%p2 st.shared.u32 [s], 8;",
            "shared-race"},
        RaceCase{"WriteWriteDifferentValues",
                 "and.b32 %r5, %r1, 31; setp.eq.s32 %p1, %r5, 0; @%p1 st.shared.u32 [s], %r1;",
                 "shared-race"},
        RaceCase{"WriteWriteSameValueSameInstruction", "st.shared.u32 [s], 5;", ""},
        RaceCase{"WriteWriteInOneInstruction",
                 "setp.lt.s32 %p1, %r1, 32; @%p1 st.shared.u32 [s], %r1;", "shared-race"},
        RaceCase{"NeighbouringBytes",
                 "cvt.u16.u32 %h1, %r1; add.s32 %r5, %r2, %r1; st.shared.u8 [%r5], %h1;", ""},
        RaceCase{"NeighbouringHalves",
                 "cvt.u16.u32 %h1, %r1; shl.b32 %r5, %r1, 1; add.s32 %r5, %r2, %r5; st.shared.u16 "
                 "[%r5], %h1; "
                 "bar.sync 0; ld.shared.u32 %r6, [s+4];",
                 ""},
        RaceCase{"ByteInsideAWordOfAnother",
                 "setp.eq.s32 %p1, %r1, 0; setp.eq.s32 %p2, %r1, 33; cvt.u16.u32 %h1, %r1; "
                 "@%p1 st.shared.u32 [s], 1; @%p2 st.shared.u8 [s+2], %h1;",
                 "shared-race"},
        RaceCase{
            "AtomicsAlone",
            "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 "
            "%r5, [s], 1; "
            "red.shared.add.u32 [s], 2;",
            ""},
        RaceCase{"AtomicAfterPlainStore",
                 "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0; red.shared.add.u32 [s], 1;",
                 "shared-race"},
        RaceCase{
            "PlainReadAfterAtomic",
            "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 "
            "[s], 1; "
            "ld.shared.u32 %r5, [s];",
            "shared-race"},
        RaceCase{
            "LanesWithoutSyncwarp",
            "st.shared.u32 [%r4], %r1; xor.b32 %r5, %r3, 4; add.s32 %r5, %r5, %r2; ld.shared.u32 "
            "%r6, [%r5];",
            "missing-syncwarp"},
        RaceCase{
            "LanesWithSyncwarp",
            "st.shared.u32 [%r4], %r1; bar.warp.sync -1; xor.b32 %r5, %r3, 4; add.s32 %r5, %r5, "
            "%r2; "
            "ld.shared.u32 %r6, [%r5]; bar.warp.sync -1; st.shared.u32 [%r4], %r6;",
            ""},
        RaceCase{
            "LanesOfTheOtherHalf",
            "st.shared.u32 [%r4], %r1; shr.u32 %r5, %r1, 4; and.b32 %r5, %r5, 1; "
            "setp.eq.u32 %p1, %r5, 0; selp.b32 %r7, 0xffff, 0xffff0000, %p1; bar.warp.sync %r7; "
            "xor.b32 %r5, %r3, 64; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];",
            "missing-syncwarp"},
        RaceCase{
            "LanesOfTheSameHalf",
            "st.shared.u32 [%r4], %r1; shr.u32 %r5, %r1, 4; and.b32 %r5, %r5, 1; "
            "setp.eq.u32 %p1, %r5, 0; selp.b32 %r7, 0xffff, 0xffff0000, %p1; bar.warp.sync %r7; "
            "xor.b32 %r5, %r3, 32; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];",
            ""},
        RaceCase{
            "LanesInAChain",  // 0 with 1, then 1 with 2: 2 is ordered after 0
            "st.shared.u32 [%r4], %r1; and.b32 %r5, %r1, 31; setp.gt.u32 %p1, %r5, 1; @%p1 bra A; "
            "bar.warp.sync 3; A: setp.eq.u32 %p2, %r5, 0; @%p2 bra E; setp.gt.u32 %p3, %r5, 2; "
            "@%p3 bra E; bar.warp.sync 6; setp.eq.u32 %p3, %r5, 1; @%p3 bra E; "
            "ld.shared.u32 %r6, [%r4+-8]; E:",
            ""},
        RaceCase{
            "LanesWriteAfterReadWithoutSyncwarp",
            "st.shared.u32 [%r4], %r1; bar.warp.sync -1; xor.b32 %r5, %r3, 4; add.s32 %r5, %r5, "
            "%r2; "
            "ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r4], %r6;",
            "missing-syncwarp"},
        RaceCase{"VolatileIsNoSyncwarp",
                 "st.volatile.shared.u32 [%r4], %r1; xor.b32 %r5, %r3, 4; add.s32 %r5, %r5, %r2; "
                 "ld.volatile.shared.u32 %r6, [%r5];",
                 "missing-syncwarp"},
        RaceCase{
            "BroadcastThenOwnerWrites",
            "st.shared.u32 [%r4], %r1; bar.sync 0; and.b32 %r5, %r3, 128; add.s32 %r5, %r5, %r2; "
            "ld.shared.u32 %r6, [%r5]; setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 3;",
            "missing-syncwarp"},
        RaceCase{
            "NamedBarrierOrdersItsParticipants",
            "st.shared.u32 [%r4], %r1; bar.sync 1, 64; xor.b32 %r5, %r3, 128; add.s32 %r5, %r5, "
            "%r2; "
            "ld.shared.u32 %r6, [%r5];",
            ""},
        RaceCase{
            "NamedBarrierOfOneWarpOrdersNobodyElse",
            "setp.lt.s32 %p1, %r1, 32; @%p1 st.shared.u32 [%r4], %r1; @%p1 bra A; bar.sync 2, 32; "
            "ld.shared.u32 %r6, [s]; bra B; A: bar.sync 1, 32; B:",
            "shared-race"},
        RaceCase{
            "ArriveAndSync",
            "setp.lt.s32 %p1, %r1, 32; @!%p1 bra C; st.shared.u32 [%r4], %r1; bar.arrive 1, 64; "
            "bra D; "
            "C: bar.sync 1, 64; ld.shared.u32 %r6, [s+8]; D:",
            ""},
        RaceCase{
            "WriteAfterArrive",
            "setp.lt.s32 %p1, %r1, 32; @!%p1 bra C; bar.arrive 1, 64; st.shared.u32 [%r4], %r1; "
            "bra D; "
            "C: bar.sync 1, 64; ld.shared.u32 %r6, [s+8]; D:",
            "shared-race"},
        RaceCase{
            "FlagWithFences",
            "setp.eq.s32 %p2, %r1, 0; @%p2 st.shared.u32 [s], 0; bar.sync 0; "
            "setp.ge.s32 %p1, %r1, 32; @%p1 bra W; st.shared.u32 [%r4+128], %r1; bar.warp.sync "
            "-1; membar.cta; "
            "setp.eq.s32 %p2, %r1, 0; @%p2 st.volatile.shared.u32 [s], 1; bra E; "
            "W: ld.volatile.shared.u32 %r5, [s]; setp.ne.s32 %p3, %r5, 1; @%p3 bra W; membar.cta; "
            "ld.shared.u32 %r6, [%r4]; E: bar.sync 0;",
            ""}),
    name_of);

class GlobalRace : public ::testing::TestWithParam<RaceCase> {};

// Two blocks of two warps; %r9 = block.
TEST_P(GlobalRace, IsToldByOrderAlone) {
  const RaceCase& c = GetParam();
  for (const uint64_t seed : {0, 1}) {
    Bench bench(entry(
        ".param .u64 y, .param .u64 t",
        std::string(kProlog) +
            "ld.param.u64 %rd2, [t]; mov.u32 %r9, %ctaid.x; add.s64 %rd5, %rd2, %rd3;" + c.body,
        kShared));
    const int y = bench.scratch("y", 64, kernel::Fill::Zero),
              t = bench.scratch("t", 64, kernel::Fill::Zero);
    bench.launch("k", {2}, {64}).params = {Bench::pointer(y), Bench::pointer(t)};
    bench.options.schedule_seed = seed;
    bench.run();
    if (*c.kind == 0) {
      EXPECT_EQ(bench.findings(), "") << "seed " << seed;
    } else {
      const auto kind = record::finding_from_name(c.kind);
      ASSERT_TRUE(kind.has_value());
      EXPECT_NE(bench.found(*kind), nullptr) << "seed " << seed << ":\n" << bench.findings();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, GlobalRace,
    ::testing::Values(
        RaceCase{"BlocksWriteTheSame", "st.global.u32 [%rd4], %r9;", "global-race-between-blocks"},
        RaceCase{"BlocksReadTheSame", "ld.global.u32 %r5, [%rd4];", ""},
        RaceCase{"OneWritesOneReads",
                 "setp.eq.s32 %p1, %r9, 0; @%p1 st.global.u32 [%rd4], 1; @!%p1 ld.global.u32 %r5, "
                 "[%rd4];",
                 "global-race-between-blocks"},
        RaceCase{"AtomicsOfBlocks",
                 "red.global.add.u32 [%rd1], 1; atom.global.max.s32 %r5, [%rd1+4], %r1;", ""},
        RaceCase{"AtomicAndPlain",
                 "setp.eq.s32 %p1, %r9, 0; @%p1 st.global.u32 [%rd4], 1; @!%p1 red.global.add.u32 "
                 "[%rd4], 1;",
                 "global-race-between-blocks"},
        RaceCase{"BlockScopedAtomics", "red.cta.global.add.u32 [%rd1], 1;",
                 "global-race-between-blocks"},
        RaceCase{
            "WarpsOfOneBlock",
            "setp.ne.s32 %p1, %r9, 0; @%p1 bra X; st.global.u32 [%rd4], %r1; xor.b32 %r5, %r3, "
            "128; "
            "cvt.u64.u32 %rd6, %r5; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r6, [%rd7]; X:",
            "global-race-in-block"},
        RaceCase{
            "WarpsOfOneBlockWithBarrier",
            "setp.ne.s32 %p1, %r9, 0; @%p1 bra X; st.global.u32 [%rd4], %r1; bar.sync 0; xor.b32 "
            "%r5, %r3, 128; "
            "cvt.u64.u32 %rd6, %r5; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r6, [%rd7]; X:",
            ""},
        RaceCase{
            "BothReadThenOneWrites",
            "ld.global.u32 %r5, [%rd4]; setp.eq.s32 %p1, %r9, 1; @%p1 st.global.u32 [%rd4], 2;",
            "global-race-between-blocks"},
        RaceCase{
            "ReleaseAndAcquire",
            "setp.ne.s32 %p1, %r1, 0; @%p1 bra X; setp.eq.s32 %p2, %r9, 0; @!%p2 bra R; "
            "st.global.u32 [%rd1+4], 42; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd2], 1; "
            "bra X; "
            "R: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.ne.s32 %p3, %r5, 1; @%p3 bra R; "
            "ld.global.u32 %r6, [%rd1+4]; X:",
            ""},
        RaceCase{"FlagWithoutFence",
                 "setp.ne.s32 %p1, %r1, 0; @%p1 bra X; setp.eq.s32 %p2, %r9, 0; @!%p2 bra R; "
                 "st.global.u32 [%rd1+4], 42; st.relaxed.gpu.global.u32 [%rd2], 1; bra X; "
                 "R: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.ne.s32 %p3, %r5, 1; @%p3 bra R; "
                 "ld.global.u32 %r6, [%rd1+4]; X:",
                 "global-race-between-blocks"},
        RaceCase{
            "FenceForTheBlockOnly",
            "setp.ne.s32 %p1, %r1, 0; @%p1 bra X; setp.eq.s32 %p2, %r9, 0; @!%p2 bra R; "
            "st.global.u32 [%rd1+4], 42; membar.cta; st.relaxed.gpu.global.u32 [%rd2], 1; bra X; "
            "R: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.ne.s32 %p3, %r5, 1; @%p3 bra R; "
            "ld.global.u32 %r6, [%rd1+4]; X:",
            "global-race-between-blocks"},
        RaceCase{
            "CompareAndSwapLoopWithPlainStart",
            "ld.global.u32 %r5, [%rd1]; L: add.s32 %r6, %r5, 1; atom.global.cas.b32 %r7, [%rd1], "
            "%r5, %r6; "
            "setp.ne.s32 %p1, %r7, %r5; mov.u32 %r5, %r7; @%p1 bra L;",
            ""}),
    name_of);

TEST(GlobalRaceTest, NamesBothSides) {
  Bench bench(
      entry(".param .u64 y, .param .u64 t",
            std::string(kProlog) +
                ".loc 1 30 1\nst.global.u32 [%rd4], 1;\n.loc 1 31 1\nld.global.u32 %r5, [%rd1+8];",
            std::string(".file 1 \"race.cu\"\n") + kShared));
  const int y = bench.scratch("y", 64, kernel::Fill::Zero);
  bench.launch("k", {2}, {64}).params = {Bench::pointer(y), Bench::pointer(y)};
  bench.run();
  const record::Finding* f = bench.found(FindingKind::GlobalRaceBetweenBlocks);
  ASSERT_NE(f, nullptr) << bench.findings();
  EXPECT_EQ(f->at.file, "race.cu");
  EXPECT_EQ(f->at.line, 30);
  EXPECT_EQ(f->who.block.x, 1u);
  ASSERT_TRUE(f->other.has_value() && f->other_at.has_value());
  EXPECT_EQ(f->other->block.x, 0u);
  EXPECT_EQ(f->buffer, "y");
  EXPECT_EQ(f->certainty, record::Certainty::Certain);
}

}  // namespace
}  // namespace kw::vgpu
