#include "workflows/explaining_judge.h"

#include <gtest/gtest.h>

#include "stages/model_session.h"
#include "task_formats/load.h"
#include "workflows/kernel_spec.h"

namespace kw::workflows {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct BoundRow {
  const char* name;
  timing::CostPart part;
  const char* expected;
};

class BoundText : public testing::TestWithParam<BoundRow> {};

TEST_P(BoundText, GivesAdviceForTheBound) {
  clock::Work work;
  work.read_bytes = work.write_bytes = 4e6;
  clock::Floor floor;
  floor.us = floor.memory_us = 2;
  timing::Cost cost;
  cost.launches = {GetParam().part};
  cost.us = GetParam().part.us;
  const std::string text = bound_text(&cost, work, floor, cost.us, false, "a GPU");
  EXPECT_TRUE(says(text, GetParam().expected)) << text;
  EXPECT_TRUE(says(text, "never measured")) << "an estimate is called one";
}

timing::CostPart bound_part(const char* bound) {
  timing::CostPart part;
  part.us = 10;
  part.memory_us = 2;
  part.occupancy = 0.9;
  part.waves = 4;
  part.bound = bound;
  return part;
}

timing::CostPart with(timing::CostPart part, double timing::CostPart::*what, double value) {
  part.*what = value;
  return part;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BoundText,
    testing::Values(
        BoundRow{"memory", bound_part("memory"), "move fewer bytes"},
        BoundRow{"issue", bound_part("issue"), "fewer instructions"},
        BoundRow{"pipes", bound_part("pipes"), "slow pipe"},
        BoundRow{"launch", bound_part("launch"), "fewer kernels"},
        BoundRow{"shared", bound_part("shared memory"), "avoid bank conflicts"},
        BoundRow{"l2", bound_part("l2"), "L2 traffic"},
        BoundRow{"compute", bound_part("compute"), "tensor cores"},
        BoundRow{"occupancy", with(bound_part("memory"), &timing::CostPart::occupancy, 0.2),
                 "occupancy is low"},
        BoundRow{"tail", with(bound_part("memory"), &timing::CostPart::tail, 1.8), "last wave"},
        BoundRow{"small_grid", with(bound_part("memory"), &timing::CostPart::waves, 0.3),
                 "does not fill the GPU"},
        BoundRow{"in_flight", with(bound_part("memory"), &timing::CostPart::hiding, 0.3),
                 "in flight"},
        BoundRow{"traffic", with(bound_part("memory"), &timing::CostPart::memory_us, 8),
                 "4.0 times what the task needs"},
        BoundRow{"far", bound_part("memory"), "far from the floor"}),
    [](const auto& test) { return std::string(test.param.name); });

struct CounterRow {
  const char* name;
  uint64_t record::CounterValues::*what;
  uint64_t value;
  const char* expected;  // "": nothing unusual
};
class CountersHint : public testing::TestWithParam<CounterRow> {};

TEST_P(CountersHint, SaysWhatStandsOutAndWhoCounted) {
  timing::CostLaunch launch;
  launch.counted.warp_total = 100;
  launch.counted.lane_total = 3200;
  launch.counted.global_load_bytes = 3200;
  launch.counted.global_load_sectors = 100;
  launch.counted.shared_load_wavefronts = 100;
  launch.counted.*GetParam().what = GetParam().value;
  const std::string text = counters_hint({launch});
  EXPECT_TRUE(says(text, "counted by the virtual GPU")) << text;
  EXPECT_EQ(says(text, "  - "), *GetParam().expected != 0) << text;
  EXPECT_TRUE(says(text, GetParam().expected)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CountersHint,
    testing::Values(CounterRow{"fine", &record::CounterValues::barriers, 1, ""},
                    CounterRow{"scattered", &record::CounterValues::global_load_sectors, 400,
                               "not coalesced"},
                    CounterRow{"conflicts", &record::CounterValues::shared_bank_conflicts, 50,
                               "pad or swizzle"},
                    CounterRow{"idle", &record::CounterValues::lane_total, 800, "many lanes idle"},
                    CounterRow{"spills", &record::CounterValues::local_bytes, 64, "local memory"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(CountersHintOf, NothingCountedSaysNothing) { EXPECT_EQ(counters_hint({{}}), ""); }

TEST(BoundTextOf, MeasuredTimesSaysSo) {
  clock::Floor floor;
  floor.us = 2;
  floor.bandwidth = 4000;
  clock::Work work;
  work.read_bytes = 8e6;
  const std::string text = bound_text(nullptr, work, floor, 4, true, "a GPU");
  EXPECT_TRUE(says(text, "4.00 us (measured on the GPU), 50 % of the floor")) << text;
  EXPECT_TRUE(says(text, "2000 GB/s of the 4000 GB/s")) << text;
}

TEST(CodeHint, SaysWhatIsThereAndWhatIsOtherThanInTheBest) {
  profile::SassFacts code;
  code.instructions = 120;
  code.loads = {{4, 3}};
  code.spill_loads = 2;
  code.barriers = 2;
  code.tensor = 4;
  code.loops = 1;
  profile::SassFacts best = code;
  best.loads = {{16, 3}};
  best.spill_loads = 0;
  const std::string alone = code_hint(code, nullptr);
  for (const char* part : {"120 instructions", "global loads 3 x 4 bytes", "spills): 2 loads",
                           "2 barriers", "4 matrix products", "1 loop", "  - registers spill"})
    EXPECT_TRUE(says(alone, part)) << part << "\n" << alone;
  EXPECT_FALSE(says(alone, "best module"));
  const std::string beside = code_hint(code, &best);
  EXPECT_TRUE(says(beside, "global loads of 16 bytes: 3 -> 0")) << beside;
  EXPECT_TRUE(says(beside, "spill loads: 0 -> 2")) << beside;
  EXPECT_TRUE(says(code_hint(code, &code), "every count is that of the best"));
}

TEST(HardwareHint, TellsOnlyWhatHardwareCounted) {
  profile::MetricSet metrics;
  metrics.set("bank_conflict_pct", 40, profile::MetricSource::Vgpu, "counted");
  EXPECT_EQ(hardware_hint(metrics), "");
  metrics.set("sm_throughput_pct", 20, profile::MetricSource::Ncu, "column");
  metrics.set("stall_long_scoreboard_pct", 61, profile::MetricSource::Ncu, "column");
  metrics.set("stall_barrier_pct", 2, profile::MetricSource::Ncu, "column");
  const std::string text = hardware_hint(metrics);
  EXPECT_TRUE(says(text, "busiest unit of the SMs, of its peak 20.0 %")) << text;
  EXPECT_TRUE(says(text, "warps wait most for: long scoreboard 61 %\n")) << text;
  EXPECT_FALSE(says(text, "conflict")) << text;
}

TEST(KernelSpecOf, ATaskIsDeterministic) {
  const auto task = task_formats::load_python(
      "import torch\ndef norm(x: 'fp16[B, D]', w: 'fp16[D]'):\n"
      "  return (x.float().softmax(-1) * w).sum(-1)\n",
      "norm.py");
  ASSERT_TRUE(task) << task.error().message;
  const arch::Target target = arch::find_target("sm_90").value();
  const std::string lines = interface_lines(*task, target).value();
  EXPECT_TRUE(says(lines, "//! kernelwright 1")) << lines;
  EXPECT_FALSE(says(lines, "tune")) << lines;
  const stages::KernelSpec spec = kernel_spec(*task, target, lines, "latency").value();
  ASSERT_EQ(spec.inputs.size(), 2u);
  EXPECT_EQ(spec.inputs[0].shape, (std::vector<std::string>{"B", "D"}));
  EXPECT_EQ(spec.inputs[0].layout_hint, "row_major");
  EXPECT_EQ(spec.inputs[1].shape, std::vector<std::string>{"D"});
  ASSERT_EQ(spec.outputs.size(), 1u);
  EXPECT_EQ(spec.outputs[0].shape, std::vector<std::string>{"B"});
  EXPECT_EQ(spec.outputs[0].dtype, "fp32");
  EXPECT_EQ(spec.optimization_priority, "latency");
  EXPECT_EQ(spec.rtol, std::nullopt) << "nobody stated one";
}

TEST(ResolveProposer, KnowsItsNames) {
  std::string warning;
  stages::ModelOptions models;
  for (const char* name : {"builtin", "llm", "hybrid"}) {
    EXPECT_EQ(*stages::resolve_proposer(name, models, &warning), name);
  }
  models.model_id = "ollama:llama3";
  EXPECT_EQ(*stages::resolve_proposer("auto", models, &warning), "hybrid") << "a model was named";
  const auto unknown = stages::resolve_proposer("hybird", models, &warning);
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(says(unknown.error().message, "did you mean 'hybrid'")) << unknown.error().message;
}

}  // namespace
}  // namespace kw::workflows
