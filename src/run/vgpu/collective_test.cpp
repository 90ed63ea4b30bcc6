// Shuffles, votes, matches, reductions and barriers: results, and the findings when lanes or
// threads do not all arrive.
#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

struct Case {
  const char* name;
  const char* body;  // %r1 = tid; leaves the result in %r10
  unsigned (*want)(unsigned lane);
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string per_thread(const std::string& body) {
  return entry(
      ".param .u64 y",
      "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;\n" + body +
          "\nmul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r10;",
      ".shared .align 4 .b8 s[512];");
}

class Collective : public ::testing::TestWithParam<Case> {};

TEST_P(Collective, Computes) {
  Bench bench(per_thread(GetParam().body));
  const int y = bench.output("y", 32, tensor::DType::Int32);
  bench.launch("k", {1}, {32}).params = {Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  const auto got = bench.read<unsigned>(y);
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], GetParam().want(lane)) << "lane " << lane;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Collective,
    ::testing::Values(
        Case{"Butterfly", "shfl.sync.bfly.b32 %r10, %r1, 5, 31, -1;",
             [](unsigned l) { return l ^ 5; }},
        Case{"Up", "shfl.sync.up.b32 %r10, %r1, 3, 0, -1;",
             [](unsigned l) { return l < 3 ? l : l - 3; }},
        Case{"Down", "shfl.sync.down.b32 %r10, %r1, 3, 31, -1;",
             [](unsigned l) { return l > 28 ? l : l + 3; }},
        Case{"Index", "shfl.sync.idx.b32 %r10, %r1, 7, 31, -1;", [](unsigned) { return 7u; }},
        Case{"IndexInSegmentsOfEight", "shfl.sync.idx.b32 %r10, %r1, 2, 0x181f, -1;",
             [](unsigned l) { return (l & 24) | 2; }},
        Case{"DownInSegmentsOfEight", "shfl.sync.down.b32 %r10, %r1, 6, 0x181f, -1;",
             [](unsigned l) { return (l & 7) + 6 <= 7 ? l + 6 : l; }},
        Case{"PredicateOfUp", "shfl.sync.up.b32 %r2|%p1, %r1, 4, 0, -1; selp.b32 %r10, 1, 0, %p1;",
             [](unsigned l) { return l >= 4 ? 1u : 0u; }},
        Case{"TheUpperLanesOfAReduction",
             "setp.lt.u32 %p1, %r1, 4; mov.u32 %r10, 0; @!%p1 bra E; shfl.sync.down.b32 %r2, %r1, "
             "2, 31, 0xf; add.s32 %r3, %r1, %r2; shfl.sync.down.b32 %r4, %r3, 1, 31, 0xf; "
             "add.s32 %r5, %r3, %r4; setp.eq.u32 %p2, %r1, 0; selp.b32 %r10, %r5, 0, %p2; E:",
             [](unsigned l) { return l == 0 ? 6u : 0u; }},
        Case{"HalfWarps",
             "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; shfl.sync.bfly.b32 %r10, %r1, 1, 31, "
             "0xffff0000; bra E; "
             "A: shfl.sync.bfly.b32 %r10, %r1, 2, 31, 0xffff; E:",
             [](unsigned l) { return l < 16 ? l ^ 2 : l ^ 1; }},
        Case{"DifferentMasksAtOneInstruction",
             "and.b32 %r2, %r1, 1; mov.u32 %r3, 0x55555555; shl.b32 %r4, %r3, %r2; "
             "shfl.sync.bfly.b32 %r10, %r1, 2, 31, %r4;",
             [](unsigned l) { return l ^ 2; }},
        Case{"Ballot", "setp.gt.u32 %p1, %r1, 27; vote.sync.ballot.b32 %r10, %p1, -1;",
             [](unsigned) { return 0xf0000000u; }},
        Case{"All",
             "setp.ge.u32 %p1, %r1, 0; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r10, 1, 0, %p2;",
             [](unsigned) { return 1u; }},
        Case{"AnyNegated",
             "setp.ge.u32 %p1, %r1, 0; vote.sync.any.pred %p2, !%p1, -1; selp.b32 %r10, 1, 0, %p2;",
             [](unsigned) { return 0u; }},
        Case{"Uni",
             "setp.gt.u32 %p1, %r1, 5; vote.sync.uni.pred %p2, %p1, -1; selp.b32 %r10, 1, 0, %p2;",
             [](unsigned) { return 0u; }},
        Case{"MatchAny", "shr.u32 %r2, %r1, 3; match.any.sync.b32 %r10, %r2, -1;",
             [](unsigned l) { return 0xffu << (l & 24); }},
        Case{"MatchAll", "match.all.sync.b32 %r10|%p1, 5, -1;",
             [](unsigned) { return 0xffffffffu; }},
        Case{"MatchAny64",
             "cvt.u64.u32 %rd5, %r1; shr.u64 %rd5, %rd5, 4; match.any.sync.b64 %r10, %rd5, -1;",
             [](unsigned l) { return l < 16 ? 0xffffu : 0xffff0000u; }},
        Case{"ReduxAdd", "redux.sync.add.s32 %r10, %r1, -1;", [](unsigned) { return 496u; }},
        Case{"ReduxMinSigned", "sub.s32 %r2, %r1, 9; redux.sync.min.s32 %r10, %r2, -1;",
             [](unsigned) { return static_cast<unsigned>(-9); }},
        Case{"ReduxMaxUnsigned", "sub.s32 %r2, %r1, 9; redux.sync.max.u32 %r10, %r2, -1;",
             [](unsigned) { return 0xffffffffu; }},
        Case{"ReduxXor", "redux.sync.xor.b32 %r10, %r1, -1;", [](unsigned) { return 0u; }},
        Case{"ActiveMask", "mov.u32 %r10, 0; setp.lt.u32 %p1, %r1, 4; @%p1 activemask.b32 %r10;",
             [](unsigned l) { return l < 4 ? 15u : 0u; }},
        Case{"Elect", "elect.sync %r2|%p1, -1; selp.b32 %r10, 1, 0, %p1;",
             [](unsigned l) { return l == 0 ? 1u : 0u; }},
        Case{"BarrierReductions",
             "setp.gt.u32 %p1, %r1, 9; bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p2, 0, %p1; "
             "bar.red.or.pred %p3, 0, !%p1; selp.b32 %r3, 100, 0, %p2; selp.b32 %r4, 1000, 0, %p3; "
             "add.s32 %r10, %r2, %r3; add.s32 %r10, %r10, %r4;",
             [](unsigned) { return 1022u; }}),
    [](const auto& row) { return row.param.name; });

struct Wrong {
  const char* name;
  const char* body;
  int threads;
  const char* kind;
  const char* message;
};
void PrintTo(const Wrong& c, std::ostream* out) { *out << c.name; }

class Meeting : public ::testing::TestWithParam<Wrong> {};

TEST_P(Meeting, IsToldWhenItFails) {
  const Wrong& c = GetParam();
  Bench bench(per_thread(std::string("mov.u32 %r10, 0;\n") + c.body));
  const int y = bench.output("y", 128, tensor::DType::Int32);
  bench.launch("k", {1}, {static_cast<uint32_t>(c.threads)}).params = {Bench::pointer(y)};
  bench.run();
  const auto kind = record::finding_from_name(c.kind);
  ASSERT_TRUE(kind.has_value());
  const record::Finding* f = bench.found(*kind);
  ASSERT_NE(f, nullptr) << bench.findings();
  EXPECT_NE(f->message.find(c.message), std::string::npos) << f->message;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Meeting,
    ::testing::Values(
        Wrong{"HalfOfTheWarpShuffles",
              "setp.lt.u32 %p1, %r1, 16; @!%p1 bra E; shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1; E: "
              "bar.sync 0;",
              32, "collective-deadlock", "wait for lanes 0xffff0000"},
        Wrong{"ShuffleAgainstBarrier",
              "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra E; A: shfl.sync.bfly.b32 "
              "%r10, %r1, 1, 31, -1; E:",
              32, "collective-deadlock", "wait for lanes 0xffff0000"},
        Wrong{"MaskWithoutTheCaller", "vote.sync.ballot.b32 %r10, 1, 0x7fffffff;", 32,
              "bad-collective-mask", "lane 31 calls with mask 0x7fffffff"},
        Wrong{"MaskOfExitedLanes",
              "setp.gt.u32 %p1, %r1, 9; @%p1 exit; vote.sync.ballot.b32 %r10, 1, -1;", 32,
              "bad-collective-mask", "22 lanes that have exited"},
        Wrong{"MaskOfLanesThatNeverWere", "vote.sync.ballot.b32 %r10, 1, -1;", 20,
              "bad-collective-mask", "12 lanes that do not exist"},
        Wrong{"ReadsALaneOutside",
              "setp.lt.u32 %p1, %r1, 8; @%p1 shfl.sync.idx.b32 %r10, %r1, 9, 31, 0xff;", 32,
              "inactive-lane-read", "reads lane 9"},
        Wrong{"ReadsAnExitedLane",
              "setp.gt.u32 %p1, %r1, 9; @%p1 exit; shfl.sync.down.b32 %r10, %r1, 1, 31, 0x3ff;", 32,
              "inactive-lane-read", "lane 9 reads lane 10"},
        Wrong{"BarrierInOneWarp", "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0; L: @!%p1 bar.sync 1;",
              64, "divergent-barrier", "never opens"},
        Wrong{"TwoBarriersInOneWarp",
              "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra E; A: bar.sync 0; E:", 32,
              "divergent-barrier", "waits at"},
        Wrong{"TwoBarriersForTwoWarps",
              "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0; bra E; A: bar.sync 0; E:", 64,
              "divergent-barrier", "while other threads of the block wait"},
        Wrong{"CountNoMultipleOfTheWarp", "bar.sync 1, 48;", 64, "barrier-misuse",
              "multiple of 32"},
        Wrong{"BadId", "bar.sync 16;", 64, "barrier-misuse", "barrier 16 does not exist"},
        Wrong{"CountsThatDiffer",
              "setp.lt.u32 %p1, %r1, 32; selp.b32 %r2, 64, 96, %p1; bar.sync 1, %r2;", 64,
              "barrier-misuse", "threads at barrier 1"}),
    [](const auto& row) { return row.param.name; });

TEST(BarrierTest, ExitedThreadsDoNotHoldUpOthers) {
  Bench bench(per_thread(
      "mov.u32 %r10, 3; setp.gt.u32 %p1, %r1, 70; @%p1 exit; bar.sync 0; setp.gt.u32 %p2, %r1, 40; "
      "@%p2 bra E; bar.sync 0; E:"));
  const int y = bench.output("y", 71, tensor::DType::Int32);
  bench.launch("k", {1}, {128}).params = {Bench::pointer(y)};
  bench.run();
  // Threads 41 to 70 do not reach the second barrier; they have exited, so it opens.
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Completed) << bench.findings();
  EXPECT_EQ(bench.read<int>(y)[70], 3);
}

// Undefined in CUDA, but every device does what the kernel meant: reported, and the run continues.
TEST(BarrierTest, WhatDevicesAllowIsAWarning) {
  struct Allowed {
    const char* body;
    const char* message;  // "": no finding
  };
  const Allowed cases[] = {
      {"setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0; bra E; A: bar.sync 0; E:",
       "while other threads of the block wait"},
      {"setp.ge.u32 %p1, %r1, 32; @%p1 bra E; bar.sync 0; E:", "32 of whose 64 threads"},
      {"setp.ge.u32 %p1, %r1, 40; @%p1 bra E; bar.sync 0; E:", "24 of whose 64 threads"},
      {"setp.ge.u32 %p1, %r1, 32; @%p1 bra E; bar.sync 1, 32; E:", ""},
      {"setp.ge.u32 %p1, %r1, 32; bar.sync 0; @%p1 bra E; E:", ""},
  };
  for (const Allowed& c : cases) {
    for (const uint64_t seed : {0, 1}) {
      Bench bench(per_thread(std::string("mov.u32 %r10, 3; ") + c.body));
      const int y = bench.output("y", 64, tensor::DType::Int32);
      bench.launch("k", {1}, {64}).params = {Bench::pointer(y)};
      bench.options.schedule_seed = seed;
      bench.run();
      EXPECT_EQ(bench.outcome.status, ports::RunStatus::Completed) << c.body;
      EXPECT_EQ(bench.read<int>(y)[63], 3);
      if (*c.message == 0) {
        EXPECT_EQ(bench.findings(), "") << c.body;
        continue;
      }
      const record::Finding* f = bench.found(FindingKind::DivergentBarrier);
      ASSERT_NE(f, nullptr) << c.body << "\n" << bench.findings();
      EXPECT_EQ(f->certainty, record::Certainty::Warning);
      EXPECT_NE(f->message.find(c.message), std::string::npos) << f->message;
      EXPECT_TRUE(f->other_at.has_value());
    }
  }
}

TEST(BarrierTest, NamedBarriersPassDataInARing) {
  // Warp 0 writes, warp 1 doubles, warp 2 adds one; each pair has its own barrier.
  Bench bench(per_thread(R"(
and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5; mov.u32 %r4, s; shl.b32 %r5, %r2, 2; add.s32 %r4, %r4, %r5; mov.u32 %r10, 0;
setp.eq.s32 %p1, %r3, 1; @%p1 bra W1; setp.eq.s32 %p2, %r3, 2; @%p2 bra W2;
st.shared.u32 [%r4], %r2; bar.arrive 1, 64; bra E;
W1: bar.sync 1, 64; ld.shared.u32 %r6, [%r4]; shl.b32 %r6, %r6, 1; st.shared.u32 [%r4+128], %r6; bar.arrive 2, 64; bra E;
W2: bar.sync 2, 64; ld.shared.u32 %r7, [%r4+128]; add.s32 %r10, %r7, 1;
E:)"));
  const int y = bench.output("y", 96, tensor::DType::Int32);
  bench.launch("k", {1}, {96}).params = {Bench::pointer(y)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.read<int>(y)[95], 63);
}

}  // namespace
}  // namespace kw::vgpu
