#include "vgpu/virtual_gpu.h"

#include "vgpu/decode.h"
#include "vgpu/testing.h"

namespace kw::vgpu {
namespace {

using testing::Bench;
using testing::entry;
using testing::FindingKind;

TEST(VirtualGpu, IsHealthy) {
  auto device = VirtualGpu::open("");
  ASSERT_TRUE(device.has_value());
  const Status status = (*device)->health();
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  EXPECT_EQ((*device)->info().name, "virtual GPU (sm_90)");
  EXPECT_FALSE(VirtualGpu::open("sm_1").has_value());
}

const char* const kAxpb = R"(
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
setp.ge.s32 %p1, %r5, %r1;
@%p1 bra DONE;
mul.wide.s32 %rd3, %r5, 4;
add.s64 %rd4, %rd1, %rd3;
ld.global.f32 %f1, [%rd4];
fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
add.s64 %rd5, %rd2, %rd3;
st.global.f32 [%rd5], %f2;
DONE:
)";

TEST(VirtualGpu, RunsAnElementwiseKernel) {
  Bench bench(entry(".param .u64 x, .param .u64 y, .param .u32 n", kAxpb));
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const int in = bench.input("x", x), out = bench.output("y", 1000);
  bench.launch("k", {4}, {256}).params = {Bench::pointer(in), Bench::pointer(out),
                                          Bench::value(1000)};
  bench.run();
  EXPECT_EQ(bench.findings(), "");
  EXPECT_EQ(bench.outcome.status, ports::RunStatus::Completed);
  const auto y = bench.read<float>(out);
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 2 * x[i] + 1) << i;
}

TEST(VirtualGpu, FindsTheElementPastTheEnd) {
  Bench bench(entry(".param .u64 x, .param .u64 y, .param .u32 n", kAxpb));
  const int in = bench.input("x", std::vector<float>(1000)), out = bench.output("y", 1001);
  bench.launch("k", {4}, {256}).params = {Bench::pointer(in), Bench::pointer(out),
                                          Bench::value(1001)};
  bench.run();
  const record::Finding* f = bench.found(FindingKind::OutOfBoundsGlobal);
  ASSERT_NE(f, nullptr) << bench.findings();
  EXPECT_EQ(f->buffer, "x");
  EXPECT_EQ(f->element, 1000);
  EXPECT_EQ(f->who.block.x, 3u);
  EXPECT_EQ(f->who.thread.x, 232u);
  EXPECT_EQ(f->message, "reads x[1000], one past the end (x has 1000 elements)");
}

TEST(SourceName, IsThatOfTheSource) {
  for (const auto& [mangled, name] :
       std::vector<std::pair<std::string, std::string>>{{"_ZZ1kPKfPfE1s_$_0", "s"},
                                                        {"_ZZ1kPKfPfE1s", "s"},
                                                        {"_ZZN3mod4sortIfEEvPT_E4tile_0", "tile"},
                                                        {"_ZN3mod5tableE", "table"},
                                                        {"plain", "plain"}})
    EXPECT_EQ(source_name(mangled), name) << mangled;
}

}  // namespace
}  // namespace kw::vgpu
