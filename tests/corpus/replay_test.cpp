// Corpus kernels from committed PTX, so that the virtual GPU is tested where there is no compiler
// at all. KW_UPDATE_GOLDEN=1 rewrites the PTX with the compiler at hand.
#include "replay.h"

#include <gtest/gtest.h>

#include "binding/load.h"
#include "corpus.h"
#include "machine/devices.h"
#include "os/files.h"
#include "run.h"
#include "tools.h"
#include "worker_main.h"

namespace kw::corpus {
namespace {

const char* const kReplayed[] = {
    "axpb_float4",   "ptx_bits",       "transpose_padded", "reduce_block",     "reduce_last_block",
    "scan_lookback", "softmax_online", "layernorm",        "histogram_shared", "bitonic_sort",
    "matmul_tiled",  "named_barriers", "noinline_calls",   "mandelbrot",       "matmul_wmma"};

const std::string kFolder = std::string(KW_CORPUS_DIR) + "/ptx";

class Replay : public testing::TestWithParam<const char*> {};

TEST_P(Replay, MatchesTheReference) {
  const Entry* entry = find_entry(GetParam());
  ASSERT_NE(entry, nullptr);
  const auto module = binding::load_module(module_path(*entry));
  ASSERT_TRUE(module) << module.error().message;
  auto device = machine::open_device({.kind = "vgpu", .target = "sm_90", .notice = {}});
  ASSERT_TRUE(device) << device.error().message;
  const Setting& setting = entry->settings.back();
  if (!os::env("KW_UPDATE_GOLDEN").empty()) {
    Tools tools;
    ASSERT_EQ(tools.problem(), "");
    RecordingCompiler recording(tools.compiler(), kFolder);
    const auto recorded = Workbench(recording, **device, "sm_90").prepare(*module, setting);
    ASSERT_TRUE(recorded) << recorded.error().message;
  }
  ReplayCompiler replaying(kFolder);
  Workbench bench(replaying, **device, "sm_90");
  const auto prepared = bench.prepare(*module, setting);
  ASSERT_TRUE(prepared) << prepared.error().message;
  Case made(*module, prepared->program, setting, 1);
  if (entry->fill) entry->fill(made);
  const auto outcome = bench.run(*prepared, made.inputs());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, ports::RunStatus::Completed) << outcome->message;
  EXPECT_EQ(findings_text(unexpected(*entry, outcome->findings)), "");
  entry->reference(made);
  const Comparison against = compare_outputs(prepared->program, *outcome, made.expected(), *entry);
  EXPECT_TRUE(against.within) << against.first;
}

INSTANTIATE_TEST_SUITE_P(Committed, Replay, testing::ValuesIn(kReplayed),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace kw::corpus

int main(int argc, char** argv) {
  if (const auto code = kw::corpus::serve_as_worker(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
