// Branches, loops, calls, recursion, predication: each kernel writes one number per thread.
#include <algorithm>

#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

struct ControlCase {
  const char* name;
  const char* before;  // functions and variables
  const char* body;    // %r1 = tid; leaves the result in %r10
  std::vector<int> (*want)();
};
void PrintTo(const ControlCase& c, std::ostream* out) { *out << c.name; }

std::vector<int> each(int (*f)(int)) {
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<size_t>(i)] = f(i);
  return values;
}

int collatz(int n) {
  int steps = 0;
  for (int v = n + 1; v != 1; ++steps) v = v % 2 != 0 ? 3 * v + 1 : v / 2;
  return steps;
}
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

class Control : public ::testing::TestWithParam<ControlCase> {};

TEST_P(Control, ComputesPerThread) {
  const ControlCase& c = GetParam();
  for (const int threads : {1, 2}) {
    Bench bench(entry(
        ".param .u64 y",
        std::string("ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;\n") + c.body +
            "\nmul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r10;",
        c.before));
    const int y = bench.output("y", 64, tensor::DType::Int32);
    bench.launch("k", {1}, {64}).params = {Bench::pointer(y)};
    bench.options.threads = threads;
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    EXPECT_EQ(bench.read<int>(y), c.want());
  }
}

constexpr const char* kAddOne = R"(
.func (.param .b32 r) add_one(.param .b32 a)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; add.s32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) times_three(.param .b32 a)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; mul.lo.s32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }
)";
constexpr const char* kFibonacci = R"(
.func (.param .b32 r) fib(.param .b32 a)
{
  .reg .b32 %r<8>; .reg .pred %p<2>; .param .b32 x; .param .b32 q;
  ld.param.b32 %r1, [a];
  setp.lt.s32 %p1, %r1, 2;
  mov.u32 %r2, %r1;
  @%p1 bra OUT;
  sub.s32 %r3, %r1, 1; st.param.b32 [x], %r3;
  call (q), fib, (x);
  ld.param.b32 %r4, [q];
  sub.s32 %r5, %r1, 2; st.param.b32 [x], %r5;
  call (q), fib, (x);
  ld.param.b32 %r6, [q];
  add.s32 %r2, %r4, %r6;
OUT: st.param.b32 [r], %r2; ret;
}
)";
// Sums its own local array and the results of deeper activations. Local addresses differ per
// activation.
constexpr const char* kLocalStack = R"(
.func (.param .b32 r) deep(.param .b32 a, .param .b64 p)
{
  .local .align 4 .b8 box[8];
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>; .param .b32 x; .param .b64 z; .param .b32 q;
  ld.param.b32 %r1, [a]; ld.param.b64 %rd2, [p];
  mov.u64 %rd1, box; st.local.b32 [%rd1], %r1; st.local.b32 [box+4], 100;
  mov.u32 %r3, 0;
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra LEAF;
  sub.s32 %r2, %r1, 1; st.param.b32 [x], %r2; st.param.b64 [z], %rd1;
  @!%p1 call (q), deep, (x, z);
  ld.param.b32 %r3, [q];
LEAF: ld.local.b32 %r4, [%rd1]; add.s32 %r5, %r3, %r4;
  setp.ne.s64 %p1, %rd2, 0;
  @%p1 ld.local.b32 %r6, [%rd2];
  @%p1 add.s32 %r5, %r5, %r6;
  st.param.b32 [r], %r5; ret;
}
)";

INSTANTIATE_TEST_SUITE_P(
    Cases, Control,
    ::testing::Values(
        ControlCase{
            "Diamond", "",
            "and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra EVEN; mul.lo.s32 %r10, %r1, "
            "10; bra END; "
            "EVEN: neg.s32 %r10, %r1; END:",
            [] { return each([](int i) { return i % 2 == 0 ? -i : 10 * i; }); }},
        ControlCase{
            "LoopsOfDifferentLength", "",
            "add.s32 %r2, %r1, 1; mov.u32 %r10, 0; L: setp.eq.s32 %p1, %r2, 1; @%p1 bra END; "
            "and.b32 %r3, %r2, 1; "
            "setp.eq.s32 %p2, %r3, 0; @%p2 bra H; mad.lo.s32 %r2, %r2, 3, 1; bra C; H: shr.u32 "
            "%r2, %r2, 1; "
            "C: add.s32 %r10, %r10, 1; bra L; END:",
            [] { return each(collatz); }},
        ControlCase{"GuardedWrite", "",
                    "mov.u32 %r10, 7; setp.gt.u32 %p1, %r1, 9; @!%p1 add.s32 %r10, %r10, %r1;",
                    [] { return each([](int i) { return i > 9 ? 7 : 7 + i; }); }},
        ControlCase{
            "IndexedBranch", "",
            "and.b32 %r2, %r1, 3; T: .branchtargets A, B, C, B; brx.idx %r2, T; A: mov.u32 %r10, "
            "100; bra END; "
            "B: mov.u32 %r10, 200; bra END; C: mov.u32 %r10, 300; END:",
            [] { return each([](int i) { return i % 4 == 0   ? 100
                                                : i % 4 == 2 ? 300
                                                             : 200; }); }},
        ControlCase{
            "CallInABranch", kAddOne,
            ".param .b32 x; .param .b32 q; mov.u32 %r10, %r1; setp.lt.u32 %p1, %r1, 20; @!%p1 bra "
            "END; "
            "st.param.b32 [x], %r1; call (q), add_one, (x); ld.param.b32 %r2, [q]; st.param.b32 "
            "[x], %r2; "
            "call (q), times_three, (x); ld.param.b32 %r10, [q]; END:",
            [] { return each([](int i) { return i < 20 ? 3 * (i + 1) : i; }); }},
        ControlCase{"GuardedCall", kAddOne,
                    ".param .b32 x; .param .b32 q; st.param.b32 [x], %r1; st.param.b32 [q], 5; "
                    "setp.lt.u32 %p1, %r1, 20; "
                    "@%p1 call (q), add_one, (x); ld.param.b32 %r10, [q];",
                    [] { return each([](int i) { return i < 20 ? i + 1 : 5; }); }},
        ControlCase{
            "CallThroughAPointer", kAddOne,
            ".param .b32 x; .param .b32 q; P: .callprototype (.param .b32 _) _ (.param .b32 _); "
            "and.b32 %r2, %r1, 1; "
            "setp.eq.s32 %p1, %r2, 0; mov.u64 %rd5, add_one; mov.u64 %rd6, times_three; "
            "selp.b64 %rd7, %rd5, %rd6, %p1; st.param.b32 [x], %r1; call (q), %rd7, (x), P; "
            "ld.param.b32 %r10, [q];",
            [] { return each([](int i) { return i % 2 == 0 ? i + 1 : 3 * i; }); }},
        ControlCase{
            "Recursion", kFibonacci,
            ".param .b32 x; .param .b32 q; and.b32 %r2, %r1, 7; st.param.b32 [x], %r2; call (q), "
            "fib, (x); "
            "ld.param.b32 %r10, [q];",
            [] { return each([](int i) { return fibonacci(i % 8); }); }},
        ControlCase{
            "RecursionWithLocalArrays", kLocalStack,
            ".param .b32 x; .param .b64 z; .param .b32 q; and.b32 %r2, %r1, 7; st.param.b32 [x], "
            "%r2; "
            "st.param.b64 [z], 0; call (q), deep, (x, z); ld.param.b32 %r10, [q];",
            [] {
              return each([](int i) {
                int sum = 0;
                for (int d = 0; d <= i % 8; ++d) sum += d + (d < i % 8 ? d + 1 : 0);
                return sum;
              });
            }},
        ControlCase{
            "SpinLockInsideAWarp", ".shared .align 4 .b8 lock[8];",
            "setp.eq.s32 %p1, %r1, 0; @%p1 st.shared.u64 [lock], 0; bar.sync 0; "
            "TRY: atom.shared.cas.b32 %r2, [lock], 0, 1; setp.ne.s32 %p2, %r2, 0; @%p2 bra TRY; "
            "membar.cta; "
            "ld.volatile.shared.u32 %r3, [lock+4]; add.s32 %r3, %r3, 1; st.volatile.shared.u32 "
            "[lock+4], %r3; "
            "membar.cta; atom.shared.exch.b32 %r4, [lock], 0; bar.sync 0; ld.shared.u32 %r10, "
            "[lock+4];",
            [] { return each([](int) { return 64; }); }}),
    [](const auto& row) { return row.param.name; });

TEST(ControlLimits, EndlessLoopIsToldWhereItRuns) {
  Bench bench(
      entry("", ".loc 1 4 1\nL: add.s32 %r1, %r1, 1;\n.loc 1 5 1\nbra L;", ".file 1 \"loop.cu\""));
  bench.launch("k", {1}, {32});
  bench.options.max_warp_instructions = 10000;
  bench.run();
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Stopped);
  const record::Finding* f = bench.found(FindingKind::InstructionBudget);
  ASSERT_NE(f, nullptr);
  EXPECT_GE(f->at.line, 4);
}

TEST(ControlLimits, EndlessRecursionEnds) {
  Bench bench(entry("", "call f;", ".func f { .reg .b32 %r<2>; mov.u32 %r1, 3; call f; ret; }"));
  bench.launch("k", {1}, {32});
  bench.run();
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Stopped);
  EXPECT_NE(bench.found(FindingKind::OutOfBoundsLocal), nullptr) << bench.findings();
}

TEST(ControlLimits, TrapAndWildCallStopTheRun) {
  Bench trap(entry("", "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 3; @%p1 trap;"));
  trap.launch("k", {1}, {32});
  trap.run();
  ASSERT_NE(trap.found(FindingKind::Trap), nullptr);
  EXPECT_EQ(trap.found(FindingKind::Trap)->who.thread.x, 3u);
  Bench wild(entry("", "P: .callprototype _ (); mov.u64 %rd1, 4711; call %rd1, P;"));
  wild.launch("k", {1}, {32});
  wild.run();
  EXPECT_NE(wild.found(FindingKind::InvalidAddress), nullptr) << wild.findings();
}

// What a kernel reads of the machine differs from run to run, and is repeatable with a seed.
TEST(Control, ClocksAndIdsDifferFromRunToRun) {
  const auto values = [](uint64_t seed) {
    Bench bench(entry(".param .u64 y",
                      "ld.param.u64 %rd1, [y]; mov.u64 %rd2, %globaltimer; mov.u64 %rd3, %gridid; "
                      "mov.u64 %rd4, %clock64; mov.u32 %r1, %smid; st.global.u64 [%rd1], %rd2; "
                      "st.global.u64 [%rd1+8], %rd3; st.global.u64 [%rd1+16], %rd4; "
                      "st.global.u32 [%rd1+24], %r1; st.global.u32 [%rd1+28], 0;"));
    const int y = bench.output("y", 4, tensor::DType::Int64);
    bench.launch("k", {1}, {1}).params = {Bench::pointer(y)};
    bench.options.schedule_seed = seed;
    bench.run();
    EXPECT_EQ(bench.findings(), "");
    return bench.outcome.buffers[static_cast<size_t>(y)].data;
  };
  const auto first = values(0), second = values(0);
  for (size_t at = 0; at < 24; at += 8)
    EXPECT_FALSE(std::equal(first.begin() + at, first.begin() + at + 8, second.begin() + at)) << at;
  EXPECT_EQ(values(7), values(7));
  EXPECT_NE(values(7), values(8));
}

}  // namespace
}  // namespace kw::vgpu
