// Every known instruction form, on random operands, against the exact reference: through isa/ on
// every x86-64 level.
#include <gtest/gtest.h>

#include "device_runner.h"
#include "isa_runner.h"
#include "vgpu/virtual_gpu.h"

namespace kw::alu_fuzz {
namespace {

constexpr int kThreads = 256;

std::string report(const Batch& batch, const Judgement& judgement) {
  std::string out = std::to_string(judgement.wrong) + " wrong results in " +
                    std::to_string(judgement.first.size()) + " of " +
                    std::to_string(batch.cases().size()) + " forms\n";
  for (size_t i = 0; i < judgement.first.size() && i < 60; ++i)
    out += "  " + judgement.first[i].what + "\n";
  return out;
}

class AluFuzz : public testing::TestWithParam<uint64_t> {};

TEST_P(AluFuzz, IsaMatchesReferenceOnEveryLevel) {
  const Batch batch(all_cases(), kThreads, GetParam());
  EXPECT_GT(batch.cases().size(), 1000u);
  std::vector<uint64_t> first;
  for (const isa::Level level : numeric::supported_levels()) {
    const auto outputs = run_on_isa(batch, level);
    ASSERT_TRUE(outputs) << outputs.error().message;
    if (first.empty()) {
      const Judgement judgement = batch.judge(*outputs, true);
      EXPECT_EQ(judgement.wrong, 0) << report(batch, judgement);
      EXPECT_GT(judgement.checked, 200000);
      first = *outputs;
    } else {
      EXPECT_EQ(first, *outputs) << "x86-64 levels differ";
    }
  }
}
TEST_P(AluFuzz, VirtualGpuMatchesReference) {
  auto device = vgpu::VirtualGpu::open("sm_90");
  ASSERT_TRUE(device) << device.error().message;
  const Batch batch(cases_for(90, 83), kThreads, GetParam());
  const auto outputs = run_on_device(batch, **device, 83, "sm_90");
  ASSERT_TRUE(outputs) << outputs.error().message;
  const Judgement judgement = batch.judge(*outputs, true);
  EXPECT_EQ(judgement.wrong, 0) << report(batch, judgement);
  EXPECT_GT(judgement.checked, 200000);
}
INSTANTIATE_TEST_SUITE_P(Seeds, AluFuzz, testing::Values(1, 2, 3));

}  // namespace
}  // namespace kw::alu_fuzz
