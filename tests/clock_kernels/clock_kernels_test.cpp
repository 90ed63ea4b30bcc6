#include <gtest/gtest.h>

#include <cstring>

#include "cuda/calibrate_ptx.h"
#include "cuda/jobs.h"
#include "ports/audit_hash.h"
#include "vgpu/virtual_gpu.h"

namespace kw {
namespace {

using kernel::Role;

template <typename T>
kernel::Param value(T v) {
  kernel::Param param;
  param.bytes.resize(sizeof(T));
  std::memcpy(param.bytes.data(), &v, sizeof(T));
  return param;
}

/// A program over byte buffers, on the virtual GPU.
class World {
 public:
  int add(Role role, const std::vector<std::byte>& bytes) {
    kernel::Buffer buffer;
    buffer.name = "b" + std::to_string(program.buffers.size());
    buffer.role = role;
    buffer.dtype = tensor::DType::Uint8;
    buffer.shape = {static_cast<int64_t>(bytes.size())};
    buffer.bytes = static_cast<int64_t>(bytes.size());
    program.buffers.push_back(buffer);
    inputs.push_back({buffer.dtype, buffer.shape, bytes});
    return static_cast<int>(program.buffers.size()) - 1;
  }
  void launch(const std::string& entry, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
              std::vector<kernel::Param> params) {
    kernel::Launch launch;
    launch.kernel = launch.entry = entry;
    launch.grid = {grid_x, grid_y, 1};
    launch.block = {threads, 1, 1};
    launch.params = std::move(params);
    program.launches.push_back(launch);
  }
  ports::RunOutcome run(const std::string& ptx, const char* target = "sm_90") {
    auto device = vgpu::VirtualGpu::open(target);
    EXPECT_TRUE(device.has_value());
    ports::Compiled compiled;
    compiled.image = ptx;
    compiled.target = target;
    auto image = (*device)->load(compiled);
    EXPECT_TRUE(image.has_value()) << image.error().message;
    if (!image) return {};
    auto outcome = (*device)->run(*image, program, inputs, {});
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    if (!outcome) return {};
    EXPECT_EQ(outcome->status, ports::RunStatus::Completed) << outcome->message;
    for (const record::Finding& finding : outcome->findings) ADD_FAILURE() << finding.message;
    return *outcome;
  }

  kernel::Program program;
  std::vector<tensor::HostTensor> inputs;
};

kernel::Param pointer(int buffer) { return {buffer, {}, ""}; }

std::vector<std::byte> pattern(size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>((i * 2654435761u + seed * 40503u) >> 13);
  return bytes;
}

/// The kernels find memory through a table of addresses, which only a device can make. Here a small
/// kernel writes it: jobs[0] = {to + shift, from + shift, bytes}.
std::string with_table(const std::string& ptx) {
  return ptx + R"(
.visible .entry make_table(.param .u64 jobs, .param .u64 to, .param .u64 from, .param .u64 bytes, .param .u64 shift)
{
  .reg .b64 %t<6>;
  ld.param.u64 %t0, [jobs];
  ld.param.u64 %t1, [to];
  ld.param.u64 %t2, [from];
  ld.param.u64 %t3, [bytes];
  ld.param.u64 %t4, [shift];
  add.u64 %t1, %t1, %t4;
  add.u64 %t2, %t2, %t4;
  st.global.u64 [%t0], %t1;
  st.global.u64 [%t0+8], %t2;
  st.global.u64 [%t0+16], %t3;
  ret;
}
)";
}

struct Case {
  size_t bytes;
  size_t shift;
};

class Jobs : public ::testing::TestWithParam<Case> {};

TEST_P(Jobs, HashAsTheHostDoes) {
  const auto [bytes, shift] = GetParam();
  World world;
  const int table = world.add(Role::Output, std::vector<std::byte>(24));
  const int data = world.add(Role::Input, pattern(bytes + shift, 7));
  const int out = world.add(Role::Inout, std::vector<std::byte>(8));
  world.launch("make_table", 1, 1, 1,
               {pointer(table), pointer(data), pointer(data), value<uint64_t>(bytes),
                value<uint64_t>(shift)});
  world.launch("kw_hash_jobs", 3, 1, 64, {pointer(table), value<uint64_t>(99), pointer(out)});
  const ports::RunOutcome outcome = world.run(with_table(cuda::job_kernels_ptx()));
  ASSERT_EQ(outcome.buffers.size(), 3u);
  uint64_t hash = 0;
  std::memcpy(&hash, outcome.buffers[2].data.data(), 8);
  EXPECT_EQ(hash, ports::audit_hash(std::span(world.inputs[1].data).subspan(shift, bytes), 99));
}

TEST_P(Jobs, CopyEveryByte) {
  const auto [bytes, shift] = GetParam();
  World world;
  const int table = world.add(Role::Output, std::vector<std::byte>(24));
  const int from = world.add(Role::Input, pattern(bytes + shift, 1));
  const int to = world.add(Role::Inout, std::vector<std::byte>(bytes + shift));
  world.launch(
      "make_table", 1, 1, 1,
      {pointer(table), pointer(to), pointer(from), value<uint64_t>(bytes), value<uint64_t>(shift)});
  world.launch("kw_copy_jobs", 2, 1, 64, {pointer(table)});
  const ports::RunOutcome outcome = world.run(with_table(cuda::job_kernels_ptx()));
  ASSERT_EQ(outcome.buffers.size(), 3u);
  for (size_t i = 0; i < bytes + shift; ++i) {
    ASSERT_EQ(outcome.buffers[2].data[i], i < shift ? std::byte{0} : world.inputs[1].data[i]) << i;
  }
}

TEST_P(Jobs, FillWithThePattern) {
  const auto [bytes, shift] = GetParam();
  World world;
  const int table = world.add(Role::Output, std::vector<std::byte>(24));
  const int to = world.add(Role::Inout, std::vector<std::byte>(bytes + shift));
  const uint32_t word = 0x44332211;
  world.launch("make_table", 1, 1, 1,
               {pointer(table), pointer(to), value<uint64_t>(word - shift), value<uint64_t>(bytes),
                value<uint64_t>(shift)});
  world.launch("kw_fill_jobs", 2, 1, 64, {pointer(table)});
  const ports::RunOutcome outcome = world.run(with_table(cuda::job_kernels_ptx()));
  ASSERT_EQ(outcome.buffers.size(), 2u);
  for (size_t i = 0; i < bytes + shift; ++i) {
    const auto wanted = static_cast<std::byte>(i < shift ? 0 : word >> (8 * (i % 4)));
    ASSERT_EQ(outcome.buffers[1].data[i], wanted) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(ClockKernels, Jobs,
                         ::testing::Values(Case{1, 0}, Case{7, 0}, Case{8, 0}, Case{16, 0},
                                           Case{17, 1}, Case{100, 4}, Case{4096, 0}, Case{5003, 2},
                                           Case{20000, 8}, Case{33, 16}));

class Traffic : public ::testing::TestWithParam<const char*> {};

TEST_P(Traffic, ReadsCopiesAddsAndWritesWhatItSays) {
  const std::string suffix = GetParam();
  constexpr uint32_t kBlocks = 2;
  constexpr uint32_t kThreads = 64;
  const uint64_t count = uint64_t{4} * kBlocks * kThreads * 3;
  const size_t bytes = count * 16;
  World world;
  const int a = world.add(Role::Input, pattern(bytes, 1));
  const int b = world.add(Role::Input, pattern(bytes, 2));
  const int copied = world.add(Role::Output, std::vector<std::byte>(bytes));
  const int added = world.add(Role::Output, std::vector<std::byte>(bytes));
  const int written = world.add(Role::Output, std::vector<std::byte>(bytes));
  const int random = world.add(Role::Output, std::vector<std::byte>(bytes));
  const int sink = world.add(Role::Inout, std::vector<std::byte>(16));
  world.launch("kw_read" + suffix, kBlocks, 1, kThreads, {pointer(a), pointer(sink), value(count)});
  world.launch("kw_copy" + suffix, kBlocks, 1, kThreads,
               {pointer(a), pointer(copied), value(count)});
  world.launch("kw_add" + suffix, kBlocks, 1, kThreads,
               {pointer(a), pointer(b), pointer(added), value(count)});
  world.launch("kw_write" + suffix, kBlocks, 1, kThreads, {pointer(written), value(count)});
  world.launch("kw_random", kBlocks, 1, kThreads, {pointer(random), value(count)});
  const ports::RunOutcome outcome = world.run(cuda::traffic_ptx());
  ASSERT_EQ(outcome.buffers.size(), 7u);
  EXPECT_EQ(outcome.buffers[2].data, world.inputs[0].data);
  for (size_t i = 0; i < bytes; i += 4) {
    uint32_t x = 0;
    uint32_t y = 0;
    uint32_t z = 0;
    std::memcpy(&x, &world.inputs[0].data[i], 4);
    std::memcpy(&y, &world.inputs[1].data[i], 4);
    std::memcpy(&z, &outcome.buffers[3].data[i], 4);
    ASSERT_EQ(z, x + y) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(ClockKernels, Traffic, ::testing::Values("", "_one", "_streamed"));

TEST(Peaks, LoopsRunWithoutAFinding) {
  for (const cuda::PeakImage& image : cuda::peak_images()) {
    if (image.least > 0) continue;  // the virtual GPU has no products of matrices in registers
    for (const cuda::PeakKernel& peak : image.kernels) {
      World world;
      const int sink = world.add(Role::Inout, std::vector<std::byte>(16));
      world.launch(peak.entry, 1, 1, static_cast<uint32_t>(peak.threads),
                   {pointer(sink), value<uint32_t>(2)});
      SCOPED_TRACE(peak.entry);
      world.run(image.ptx);
      EXPECT_GT(peak.operations, 0);
    }
  }
}

}  // namespace
}  // namespace kw
