// Undefined data: where it comes from, how it propagates, and that it is reported only when used.
#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

struct UndefinedCase {
  const char* name;
  const char* body;
  const char* message;  // part of the finding's message; "": no finding is allowed
};
void PrintTo(const UndefinedCase& c, std::ostream* out) { *out << c.name; }

class Undefined : public ::testing::TestWithParam<UndefinedCase> {};

// %r1 = tid, %rd1 = y (output, one int per thread), %rd2 = t (scratch, undefined), %rd4 = &y[tid],
// %rd5 = &t[tid]. Bodies leave a value in %r10, which is stored to y[tid].
TEST_P(Undefined, IsToldWhereUsed) {
  const UndefinedCase& c = GetParam();
  Bench bench(entry(
      ".param .u64 y, .param .u64 t",
      std::string("ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [t]; mov.u32 %r1, %tid.x; "
                  "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; "
                  "mov.u32 %r10, 1;\n") +
          c.body + "\nst.global.u32 [%rd4], %r10;",
      ".shared .align 4 .b8 s[256];"));
  const int y = bench.output("y", 32, tensor::DType::Int32), t = bench.scratch("t", 32);
  bench.launch("k", {1}, {32}).params = {Bench::pointer(y), Bench::pointer(t)};
  bench.run();
  if (*c.message == 0) {
    EXPECT_EQ(bench.findings(), "");
    return;
  }
  const record::Finding* f = bench.found(FindingKind::UninitialisedUse);
  ASSERT_NE(f, nullptr) << bench.findings();
  EXPECT_NE(f->message.find(c.message), std::string::npos) << f->message;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Undefined,
    ::testing::Values(
        UndefinedCase{"LoadedButUnused", "ld.global.u32 %r5, [%rd5]; add.s32 %r6, %r5, 1;", ""},
        UndefinedCase{"StoredToAnOutput", "ld.global.u32 %r10, [%rd5];",
                      "stores an undefined value to y[0]: it comes from t[0]"},
        UndefinedCase{
            "Branch",
            "ld.global.u32 %r5, [%rd5]; setp.eq.s32 %p1, %r5, 0; @%p1 bra A; mov.u32 %r10, 2; A:",
            "branches on an undefined value"},
        UndefinedCase{"Address",
                      "ld.global.u32 %r5, [%rd5]; cvt.u64.u32 %rd6, %r5; add.s64 %rd7, %rd1, %rd6; "
                      "ld.global.u32 %r6, [%rd7];",
                      "uses an undefined value as an address"},
        UndefinedCase{"Shared", "ld.shared.u32 %r10, [s+16];", "it comes from"},
        UndefinedCase{
            "ThroughShared",
            "ld.global.u32 %r5, [%rd5]; mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.s32 %r6, %r6, "
            "%r7; "
            "st.shared.u32 [%r6], %r5; ld.shared.u32 %r10, [%r6];",
            "stores an undefined value to y"},
        UndefinedCase{
            "ThroughSharedThenOverwritten",
            "ld.global.u32 %r5, [%rd5]; mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.s32 %r6, %r6, "
            "%r7; "
            "st.shared.u32 [%r6], %r5; st.shared.u32 [%r6], 3; ld.shared.u32 %r10, [%r6];",
            ""},
        UndefinedCase{"ThroughScratch",
                      "ld.global.u32 %r5, [%rd5]; add.s32 %r5, %r5, 1; st.global.u32 [%rd5], %r5; "
                      "ld.global.u32 %r10, [%rd5];",
                      "stores an undefined value to y"},
        UndefinedCase{"Local",
                      ".local .align 4 .b8 a[16]; mov.u64 %rd6, a; ld.local.u32 %r10, [%rd6+4];",
                      "stores an undefined value"},
        UndefinedCase{"LocalWritten",
                      ".local .align 4 .b8 a[16]; st.local.u32 [a+4], 9; ld.local.u32 %r10, [a+4];",
                      ""},
        UndefinedCase{
            "SelectedAway",
            "ld.global.u32 %r5, [%rd5]; setp.ge.u32 %p1, %r1, 0; selp.b32 %r10, 4, %r5, %p1;", ""},
        UndefinedCase{"MaskedAway", "ld.global.u32 %r5, [%rd5]; and.b32 %r10, %r5, 0;", ""},
        UndefinedCase{"MaskedPartly", "ld.global.u32 %r5, [%rd5]; and.b32 %r10, %r5, 1;",
                      "stores an undefined value"},
        UndefinedCase{"OredWithOnes", "ld.global.u32 %r5, [%rd5]; or.b32 %r10, %r5, -1;", ""},
        UndefinedCase{"ShiftedOut",
                      "ld.global.u16 %r5, [%rd5]; shl.b32 %r6, %r5, 16; shl.b32 %r10, %r6, 16;",
                      ""},
        UndefinedCase{"ShiftedIn", "ld.global.u16 %r5, [%rd5]; shl.b32 %r10, %r5, 16;",
                      "stores an undefined value"},
        UndefinedCase{
            "PredicateHidden",
            "ld.global.u32 %r5, [%rd5]; setp.eq.s32 %p1, %r5, 0; setp.gt.u32 %p2, %r1, 99; "
            "and.pred %p3, %p1, %p2; "
            "@%p3 bra A; mov.u32 %r10, 2; A:",
            ""},
        UndefinedCase{"Shuffled",
                      "ld.global.u32 %r5, [%rd5]; shfl.sync.bfly.b32 %r10, %r5, 1, 31, -1;",
                      "stores an undefined value"},
        UndefinedCase{
            "Voted",
            "ld.global.u32 %r5, [%rd5]; setp.eq.s32 %p1, %r5, 0; vote.sync.ballot.b32 %r10, %p1, "
            "-1;",
            "stores an undefined value"},
        UndefinedCase{
            "AtomicOnUnwritten",
            "bar.sync 0; atom.shared.add.u32 %r5, [s], 1; bar.sync 0; ld.shared.u32 %r10, [s];",
            "stores an undefined value"},
        UndefinedCase{"ExchangeDefines",
                      "atom.global.exch.b32 %r5, [%rd5], 3; ld.global.u32 %r10, [%rd5];", ""},
        UndefinedCase{"OneByteOfAWord", "st.global.u8 [%rd5], %r1; ld.global.u32 %r10, [%rd5];",
                      "stores an undefined value"},
        UndefinedCase{
            "AllBytesOfAWord",
            "st.global.u16 [%rd5], %r1; st.global.u8 [%rd5+2], %r1; st.global.u8 [%rd5+3], %r1; "
            "ld.global.u32 %r10, [%rd5];",
            ""}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Registers, Undefined,
    ::testing::Values(
        UndefinedCase{
            "Stored", "mov.u32 %r10, %r20;",
            "stores an undefined value to y[0]: it comes from a register that is read at line"},
        UndefinedCase{"OneOfTwo", "add.u32 %r10, %r20, %r21;", "it comes from one of 2 registers"},
        UndefinedCase{"TimesZero", "mul.lo.u32 %r10, %r20, 0;", "stores an undefined value"},
        UndefinedCase{"Branch", "setp.eq.s32 %p1, %r20, 0; @%p1 bra A; mov.u32 %r10, 2; A:",
                      "branches on an undefined value"},
        UndefinedCase{"Guard", "@%p1 bra A; mov.u32 %r10, 2; A:", "branches on an undefined value"},
        UndefinedCase{"Address", "ld.global.u32 %r5, [%rd9];",
                      "uses an undefined value as an address"},
        UndefinedCase{"Unused", "add.s32 %r21, %r20, 1;", ""},
        UndefinedCase{"MaskedAway", "and.b32 %r10, %r20, 0;", ""},
        UndefinedCase{"HalfMaskedAway", "mov.b64 %rd6, {%r1, %r20}; cvt.u32.u64 %r10, %rd6;", ""},
        UndefinedCase{
            "WrittenOnOnePath",
            "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; mov.u32 %r20, 3; A: mov.u32 %r10, %r20;",
            "stores an undefined value to y[0]"},
        UndefinedCase{
            "WrittenOnBothPaths",
            "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; mov.u32 %r20, 3; bra B; A: mov.u32 %r20, 4; "
            "B: mov.u32 %r10, %r20;",
            ""},
        UndefinedCase{"WrittenUnderGuard",
                      "setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r20, 3; mov.u32 %r10, %r20;",
                      "stores an undefined value to y[16]"},
        UndefinedCase{"UsedUnderTheSameGuard",
                      "setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r20, 3; @%p1 mov.u32 %r10, %r20;",
                      ""},
        UndefinedCase{
            "WrittenInTheFirstRound",
            "mov.u32 %r5, 0; L: setp.ne.u32 %p1, %r5, 0; @%p1 bra A; mov.u32 %r20, 3; A: "
            "add.u32 %r20, %r20, 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 4; @%p2 bra L; "
            "mov.u32 %r10, %r20;",
            ""},
        UndefinedCase{"CarriedAroundALoop",
                      "mov.u32 %r5, 0; mov.u32 %r10, 1; L: mov.u32 %r10, %r22; mov.u32 %r22, %r21; "
                      "mov.u32 %r21, %r20; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; "
                      "@%p2 bra L;",
                      "stores an undefined value"},
        UndefinedCase{"PushedOutOfALoop",
                      "mov.u32 %r5, 0; L: mov.u32 %r10, %r22; mov.u32 %r22, %r21; "
                      "mov.u32 %r21, %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; "
                      "@%p2 bra L;",
                      ""},
        UndefinedCase{"ThroughScratch",
                      "add.u32 %r21, %r20, 1; st.global.u32 [%rd5], %r21; ld.global.u32 %r10, "
                      "[%rd5];",
                      "stores an undefined value to y"},
        UndefinedCase{"ThroughShared",
                      "mov.u32 %r6, s; shl.b32 %r7, %r1, 2; add.s32 %r6, %r6, %r7; "
                      "st.shared.u32 [%r6], %r20; ld.shared.u32 %r10, [%r6];",
                      "stores an undefined value to y"},
        UndefinedCase{"ThroughLocal",
                      ".local .align 4 .b8 a[16]; st.local.u32 [a], %r20; ld.local.u32 %r10, [a];",
                      "stores an undefined value"},
        UndefinedCase{"Shuffled", "shfl.sync.bfly.b32 %r10, %r20, 1, 31, -1;",
                      "stores an undefined value"},
        UndefinedCase{"ShuffledFromLanesThatDidNotWrite",
                      "setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r20, 3; "
                      "shfl.sync.bfly.b32 %r21, %r20, 16, 31, -1; @%p1 mov.u32 %r10, %r21;",
                      "stores an undefined value to y[0]"},
        UndefinedCase{"ShuffledFromLanesThatWrote",
                      "setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r20, 3; "
                      "shfl.sync.bfly.b32 %r21, %r20, 1, 31, -1; @%p1 mov.u32 %r10, %r21;",
                      ""},
        UndefinedCase{"MemoryBesideAnUnusedOne",
                      "add.u32 %r21, %r20, 1; ld.global.u32 %r5, [%rd5]; add.u32 %r6, %r5, 1; "
                      "mul.lo.u32 %r10, %r6, 3;",
                      "stores an undefined value to y[0]: it comes from t[0]"},
        UndefinedCase{"QuotientBesideAnUnusedOne",
                      "add.u32 %r21, %r20, 1; div.u32 %r5, %r1, %r1; add.u32 %r10, %r5, 1;",
                      "stores an undefined value to y[0]"},
        UndefinedCase{"InAPlaceOfAnother",
                      "mov.u32 %r21, 5; @%p1 mov.u32 %r21, %r20; mov.u32 %r10, %r21;",
                      "stores an undefined value to y[0]"},
        UndefinedCase{"Carry", "addc.u32 %r10, %r1, 0;", "stores an undefined value"},
        UndefinedCase{"CarryWritten", "add.cc.u32 %r5, %r1, %r1; addc.u32 %r10, %r1, 0;", ""},
        UndefinedCase{"MemoryIsNamedFirst", "add.u32 %r21, %r20, 1; ld.global.u32 %r10, [%rd5];",
                      "it comes from t[0]"},
        UndefinedCase{"CountedByABarrier",
                      "setp.eq.s32 %p1, %r20, 0; bar.red.popc.u32 %r10, 0, %p1;",
                      "stores an undefined value"},
        UndefinedCase{
            "DecidesABarrierVote",
            "setp.eq.s32 %p1, %r20, 0; bar.red.or.pred %p2, 0, %p1; @%p2 mov.u32 %r10, 2;",
            "stores an undefined value"},
        UndefinedCase{
            "OutvotedAtABarrier",
            "setp.lt.u32 %p1, %r1, 16; @!%p1 bra A; setp.eq.s32 %p1, %r20, 0; bra B; A: "
            "setp.eq.u32 %p1, %r1, %r1; B: barrier.red.or.pred %p2, 0, %p1; @%p2 mov.u32 %r10, 2;",
            ""},
        UndefinedCase{
            "OverwrittenByABarrier",
            "add.s32 %r21, %r20, 1; setp.eq.u32 %p1, %r1, 0; bar.red.popc.u32 %r20, 0, %p1; "
            "mov.u32 %r10, %r20;",
            ""}),
    [](const auto& row) { return row.param.name; });

// A second call must not see values that the first left in the callee's registers.
TEST(UndefinedTest, EachCallStartsWithUndefinedRegisters) {
  for (const int second : {0, 1}) {
    Bench bench(entry(".param .u64 y, .param .u32 v", R"(
      ld.param.u64 %rd1, [y]; ld.param.u32 %r2, [v];
      { .param .b32 a; .param .b32 r; st.param.b32 [a], 0; call (r), seven_for_zero, (a); }
      { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), seven_for_zero, (a);
        ld.param.b32 %r3, [r]; }
      st.global.u32 [%rd1], %r3;)",
                      R"(.func (.param .b32 r) seven_for_zero(.param .b32 a) {
      .reg .b32 %q<3>; .reg .pred %p;
      ld.param.b32 %q1, [a]; setp.eq.u32 %p, %q1, 0; @%p mov.u32 %q2, 7;
      st.param.b32 [r], %q2; mov.u32 %q2, 9; ret; })"));
    const int y = bench.output("y", 1, tensor::DType::Int32);
    bench.launch("k", {1}, {1}).params = {Bench::pointer(y), Bench::value(second)};
    bench.run();
    EXPECT_EQ(bench.found(FindingKind::UninitialisedUse) != nullptr, second != 0)
        << bench.findings() << bench.load_error;
    if (second == 0) {
      EXPECT_EQ(bench.read<int>(y)[0], 7);
    }
  }
}

// Undefined bits in memory end the parallel pass, those of registers do not; the result must not
// depend on it.
TEST(UndefinedTest, ThroughScratchToTheNextLaunch) {
  for (const int threads : {1, 2}) {
    const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 t) { .reg .b32 %r<4>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [t]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  add.u32 %r3, %r2, %r1; st.global.u32 [%rd3], %r3; ret; }
.visible .entry copy(.param .u64 t, .param .u64 y) { .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [t]; ld.param.u64 %rd4, [y]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; add.s64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], %r2; ret; }
)";
    Bench bench(text);
    const int t = bench.scratch("t", 64), y = bench.output("y", 64, tensor::DType::Int32);
    bench.launch("fill", {64}, {1}).params = {Bench::pointer(t)};
    bench.launch("copy", {64}, {1}).params = {Bench::pointer(t), Bench::pointer(y)};
    bench.options.threads = threads;
    bench.run();
    const record::Finding* f = bench.found(FindingKind::UninitialisedUse);
    ASSERT_NE(f, nullptr) << threads;
    EXPECT_NE(f->message.find("stores an undefined value to y[0]"), std::string::npos)
        << f->message;
  }
}

TEST(UndefinedTest, HarmlessRegistersChangeNothing) {
  for (const int threads : {1, 2}) {
    Bench bench(entry(".param .u64 y",
                      "ld.param.u64 %rd1, [y]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd3, %r1, 4; "
                      "add.s64 %rd4, %rd1, %rd3; setp.gt.u32 %p1, %r1, 31; @%p1 add.u32 %r2, %r1, "
                      "1; selp.b32 %r3, %r2, %r1, %p1; st.global.u32 [%rd4], %r3;"));
    const int y = bench.output("y", 64, tensor::DType::Int32);
    bench.launch("k", {64}, {1}).params = {Bench::pointer(y)};
    bench.options.threads = threads;
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    EXPECT_EQ(bench.read<int>(y)[31], 31);
    EXPECT_EQ(bench.read<int>(y)[63], 64);
  }
}

// Threads keep no common stamps of a result that the last launch has written; one that it has not
// written, or that an earlier launch began, still needs them.
TEST(UndefinedTest, BlocksThatWriteNothingAreFoundOnAllThreads) {
  const std::string text = entry(
      ".param .u64 y, .param .u32 low, .param .u32 high",
      "ld.param.u64 %rd1, [y]; ld.param.u32 %r2, [low]; ld.param.u32 %r3, [high]; mov.u32 %r1, "
      "%ctaid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; setp.ge.u32 %p1, %r1, %r2; "
      "setp.lt.and.u32 %p2, %r1, %r3, %p1; @%p2 st.global.u32 [%rd4], %r1;");
  struct Written {
    std::vector<std::pair<uint32_t, uint32_t>> launches;  // the blocks that write
    int64_t missing;
  };
  for (const Written& one :
       {Written{{{0, 64}}, 0}, Written{{{0, 60}}, 4}, Written{{{0, 32}, {32, 64}}, 0},
        Written{{{0, 32}, {33, 64}}, 1}, Written{{{0, 64}, {0, 10}}, 0}}) {
    for (const int threads : {1, 2}) {
      Bench bench(text);
      const int y = bench.output("y", 64, tensor::DType::Int32);
      for (const auto& [low, high] : one.launches)
        bench.launch("k", {64}, {1}).params = {Bench::pointer(y), Bench::value(low),
                                               Bench::value(high)};
      bench.options.threads = threads;
      bench.run();
      const record::Finding* f = bench.found(FindingKind::OutputNotWritten);
      EXPECT_EQ(f == nullptr ? 0 : f->count, one.missing) << threads;
    }
  }
}

TEST(UndefinedTest, OutputsNobodyWroteAreCounted) {
  Bench bench(entry(".param .u64 y",
                    "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 8; "
                    "add.s64 %rd4, %rd1, %rd3; "
                    "st.global.u32 [%rd4], %r1;"));
  const int y = bench.output("y", 64, tensor::DType::Int32);
  bench.launch("k", {1}, {32}).params = {Bench::pointer(y)};
  bench.run();
  const record::Finding* f = bench.found(FindingKind::OutputNotWritten);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->element, 1);
  EXPECT_EQ(f->count, 32);
  EXPECT_EQ(bench.read<uint32_t>(y)[1], 0xffffffffu);
  EXPECT_EQ(bench.read<uint32_t>(y)[2], 1u);
}

TEST(UndefinedTest, KeptScratchMustBeZeroAgain) {
  for (const int last : {0, 5}) {
    Bench bench(entry(".param .u64 t, .param .u32 v",
                      "ld.param.u64 %rd1, [t]; ld.param.u32 %r1, [v]; st.global.u32 [%rd1+8], 1; "
                      "st.global.u32 [%rd1+8], %r1;"));
    const int t = bench.scratch("t", 8, kernel::Fill::ZeroKept);
    bench.launch("k", {1}, {1}).params = {Bench::pointer(t), Bench::value(last)};
    bench.run();
    const record::Finding* f = bench.found(FindingKind::ScratchNotRestored);
    EXPECT_EQ(f != nullptr, last != 0) << bench.findings();
    if (f != nullptr) {
      EXPECT_EQ(f->element, 2);
    }
  }
}

TEST(UndefinedTest, WhatAnEarlierLaunchWroteIsDefined) {
  for (const int threads : {1, 2}) {
    const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 t) { .reg .b32 %r<4>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [t]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1; ret; }
.visible .entry copy(.param .u64 t, .param .u64 y) { .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [t]; ld.param.u64 %rd4, [y]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; add.s64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], %r2; ret; }
)";
    Bench bench(text);
    const int t = bench.scratch("t", 64), y = bench.output("y", 64, tensor::DType::Int32);
    bench.launch("fill", {64}, {1}).params = {Bench::pointer(t)};
    bench.launch("copy", {64}, {1}).params = {Bench::pointer(t), Bench::pointer(y)};
    bench.options.threads = threads;
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    EXPECT_EQ(bench.read<int>(y)[63], 63);
  }
}

}  // namespace
}  // namespace kw::vgpu
