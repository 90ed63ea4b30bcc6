// Compares counters with numbers computed by hand.
#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using record::CounterValues;
using testing::Bench;
using testing::entry;

struct CountersCase {
  const char* name;
  // %r1 = tid, %rd1 = x, %rd2 = y, %rd3 = 4 * tid, %r4 = shared address of s[tid]
  const char* body;
  uint64_t CounterValues::*counter;
  uint64_t want;
};
void PrintTo(const CountersCase& c, std::ostream* out) { *out << c.name; }

class Counters : public ::testing::TestWithParam<CountersCase> {};

CounterValues count(const std::string& body) {
  Bench bench(entry(
      ".param .u64 x, .param .u64 y",
      "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, "
      "%r1, 4; "
      "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3; add.s64 %rd4, %rd1, %rd3;\n" +
          body,
      ".shared .align 16 .b8 s[8192];"));
  const int x = bench.input("x", std::vector<float>(4096)), y = bench.output("y", 4096);
  bench.launch("k", {1}, {32}).params = {Bench::pointer(x), Bench::pointer(y)};
  bench.options.counters = true;
  bench.run();
  EXPECT_EQ(bench.outcome.counters.size(), 1u);
  return bench.outcome.counters.empty() ? CounterValues() : bench.outcome.counters[0].total;
}

TEST_P(Counters, AreExact) {
  EXPECT_EQ(count(GetParam().body).*GetParam().counter, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Counters,
    ::testing::Values(
        CountersCase{"RowOfFloats", "ld.global.f32 %f1, [%rd4];",
                     &CounterValues::global_load_sectors, 4},
        CountersCase{"RowOfFloatsShifted", "ld.global.f32 %f1, [%rd4+4];",
                     &CounterValues::global_load_sectors, 5},
        CountersCase{"OneAddress", "ld.global.f32 %f1, [%rd1+64];",
                     &CounterValues::global_load_sectors, 1},
        CountersCase{"StrideOfTwo", "add.s64 %rd5, %rd4, %rd3; ld.global.f32 %f1, [%rd5];",
                     &CounterValues::global_load_sectors, 8},
        CountersCase{"StrideOf32Bytes",
                     "mad.wide.u32 %rd5, %r1, 32, %rd1; ld.global.f32 %f1, [%rd5];",
                     &CounterValues::global_load_sectors, 32},
        CountersCase{
            "Backwards",
            "sub.s32 %r5, 31, %r1; mad.wide.u32 %rd5, %r5, 4, %rd1; ld.global.f32 %f1, [%rd5];",
            &CounterValues::global_load_sectors, 4},
        CountersCase{
            "RowOfFloat4",
            "mad.wide.u32 %rd5, %r1, 16, %rd1; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];",
            &CounterValues::global_load_sectors, 16},
        CountersCase{
            "BytesOfFloat4",
            "mad.wide.u32 %rd5, %r1, 16, %rd1; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];",
            &CounterValues::global_load_bytes, 512},
        CountersCase{"FewLanes", "setp.lt.u32 %p1, %r1, 5; @%p1 ld.global.f32 %f1, [%rd4];",
                     &CounterValues::global_load_bytes, 20},
        CountersCase{"NoLane", "setp.gt.u32 %p1, %r1, 50; @%p1 ld.global.f32 %f1, [%rd4];",
                     &CounterValues::global_load_requests, 0},
        CountersCase{"StoreSectors", "add.s64 %rd5, %rd2, %rd3; st.global.f32 [%rd5], 0f00000000;",
                     &CounterValues::global_store_sectors, 4},
        CountersCase{"SharedRow", "st.shared.u32 [%r4], 1;",
                     &CounterValues::shared_store_wavefronts, 1},
        CountersCase{"SharedBroadcast", "ld.shared.u32 %r5, [s];",
                     &CounterValues::shared_load_wavefronts, 1},
        CountersCase{"SharedStrideOfTwo", "add.s32 %r5, %r4, %r3; ld.shared.u32 %r6, [%r5];",
                     &CounterValues::shared_load_wavefronts, 2},
        CountersCase{"SharedColumn", "mad.lo.s32 %r5, %r1, 128, %r2; ld.shared.u32 %r6, [%r5];",
                     &CounterValues::shared_load_wavefronts, 32},
        CountersCase{"SharedColumnConflicts",
                     "mad.lo.s32 %r5, %r1, 128, %r2; ld.shared.u32 %r6, [%r5];",
                     &CounterValues::shared_bank_conflicts, 31},
        CountersCase{"SharedPaddedColumn",
                     "mad.lo.s32 %r5, %r1, 132, %r2; ld.shared.u32 %r6, [%r5];",
                     &CounterValues::shared_bank_conflicts, 0},
        CountersCase{"SharedFloat4",
                     "mad.lo.s32 %r5, %r1, 16, %r2; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];",
                     &CounterValues::shared_load_wavefronts, 4},
        CountersCase{"SharedDouble", "mad.lo.s32 %r5, %r1, 8, %r2; ld.shared.f64 %d1, [%r5];",
                     &CounterValues::shared_load_wavefronts, 2},
        CountersCase{"SharedDoubleConflicts",
                     "mad.lo.s32 %r5, %r1, 8, %r2; ld.shared.f64 %d1, [%r5];",
                     &CounterValues::shared_bank_conflicts, 0},
        CountersCase{"SharedBytes", "add.s32 %r5, %r2, %r1; ld.shared.u8 %r6, [%r5];",
                     &CounterValues::shared_load_bytes, 32},
        CountersCase{"GenericMeetsShared",
                     "cvt.u64.u32 %rd5, %r4; cvta.shared.u64 %rd6, %rd5; st.u32 [%rd6], 1;",
                     &CounterValues::shared_store_requests, 1},
        CountersCase{"AtomicsOnOneWord", "red.shared.add.u32 [s], 1;",
                     &CounterValues::atomic_serialised, 31},
        CountersCase{"AtomicsApart", "red.shared.add.u32 [%r4], 1;",
                     &CounterValues::atomic_serialised, 0},
        CountersCase{"DivergentBranch", "setp.lt.u32 %p1, %r1, 7; @%p1 bra A; A:",
                     &CounterValues::divergent_branches, 1},
        CountersCase{"UniformBranch", "setp.lt.u32 %p1, %r1, 70; @%p1 bra A; A:",
                     &CounterValues::divergent_branches, 0},
        CountersCase{"FusedFlops", "fma.rn.f32 %f2, %f1, %f1, %f1; add.f32 %f3, %f2, %f2;",
                     &CounterValues::flops_fp32, 96},
        CountersCase{"DoubleFlops", "fma.rn.f64 %d2, %d1, %d1, %d1;", &CounterValues::flops_fp64,
                     64},
        CountersCase{"HalfFlops", "fma.rn.f16x2 %r6, %r5, %r5, %r5;", &CounterValues::flops_fp16,
                     128},
        CountersCase{"Barriers", "bar.sync 0; bar.sync 0;", &CounterValues::barriers, 2},
        CountersCase{"Local",
                     ".local .align 4 .b8 l[8]; st.local.u32 [l], 1; ld.local.u32 %r5, [l];",
                     &CounterValues::local_bytes, 256}),
    [](const auto& row) { return row.param.name; });

TEST(CountersTest, LanesAndLinesAddUp) {
  Bench bench(entry("",
                    ".loc 1 3 1\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 8;\n@!%p1 bra "
                    "E;\n.loc 1 4 1\nadd.s32 %r2, %r1, 1;\nE:",
                    ".file 1 \"lines.cu\""));
  bench.launch("k", {3}, {32});
  bench.options.counters = true;
  bench.run();
  const record::LaunchCounters& c = bench.outcome.counters.at(0);
  EXPECT_EQ(c.blocks, 3u);
  EXPECT_EQ(c.threads_per_block, 32u);
  ASSERT_EQ(c.lines.size(), 2u);
  EXPECT_EQ(c.lines[1].line, 4);
  // Line 4: the add with 8 lanes, then the exit with all lanes joined.
  EXPECT_EQ(c.lines[1].values.warp_instructions[static_cast<int>(record::InstClass::Integer)], 3u);
  CounterValues sum;
  for (const record::LineCounters& line : c.lines) sum += line.values;
  EXPECT_EQ(sum.warp_total, c.total.warp_total);
  EXPECT_EQ(sum.lane_total, c.total.lane_total);
  EXPECT_EQ(c.total.lane_total, 3u * (3 * 32 + 8 + 32));
}

TEST(CountersTest, OutputsAreThoseOfACheckedRun) {
  Bench bench(entry(".param .u64 y",
                    "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1; "
                    "st.global.u32 [%rd2], %r1;"));
  const int y = bench.output("y", 32, tensor::DType::Int32);
  bench.launch("k", {1}, {32}).params = {Bench::pointer(y)};
  bench.options.counters = true;
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.read<int>(y)[31], 31);
}

}  // namespace
}  // namespace kw::vgpu
