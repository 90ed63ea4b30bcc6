// Schedules by name: each must be offered for its references, pass the gate on the virtual GPU, and
// give source that can be read. One schedule per reference and one family of inputs by default;
// KW_CODEGEN_ALL=1 takes all.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "compile/compile_worker.h"
#include "core/text.h"
#include "harness.h"
#include "os/files.h"
#include "task_formats/load.h"

namespace kw::codegen_tests {
namespace {

constexpr size_t kMostLines = 200;    // of one kernel; products read through windows need most
constexpr size_t kMostColumns = 100;  // of device code
constexpr size_t kMostCombinations = 64;

struct Case {
  const char* reference;
  std::vector<std::string> schedules;  // all that must be offered, any order
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"cumsum", {"scan_warp", "scan_block"}},
      {"cumsum_half", {"scan_block", "scan_warp"}},
      {"cumsum_fused", {"scan_warp", "scan_block"}},
      {"cumsum_backward", {"scan_warp", "scan_block"}},
      {"cummax_backward", {"scan_block"}},
      {"cumsum_columns", {"scan_columns"}},
      {"cummin_columns", {"scan_columns"}},
      {"cumsum_batch", {"scan_columns_split", "scan_columns"}},
      {"cummax_batch", {"scan_columns_split"}},
      {"cumsum_upwards", {"scan_columns"}},
      {"cumprod_double", {"scan_columns"}},
      {"logcumsumexp", {"scan_warp", "scan_block"}},
      {"cummax", {"scan_warp", "scan_block"}},
      {"cummax_long", {"scan_chain", "scan_split", "scan_block"}},
      {"cumsum_long", {"scan_chain", "scan_split"}},
      {"argmax", {"arg_warp", "arg_block"}},
      {"argmax_columns", {"column_whole", "column_split"}},
      {"max_channels", {"column_whole"}},
      {"argmax_long", {"arg_split", "arg_block"}},
      {"max_bytes", {"arg_warp"}},
      {"top_one", {"block_per_row"}},
      {"topk8", {"top_k", "sort"}},
      {"topk64", {"top_k"}},
      {"smallest", {"top_k"}},
      {"sort_down", {"sort"}},
      {"argsort", {"sort"}},
      {"kth_value", {"sort"}},
      {"column_sum", {"column_split", "column_whole"}},
      {"column_mean", {"column_whole", "column_split"}},
      {"column_any", {"column_split"}},
      {"column_variance", {"column_split", "stacked_split"}},
      {"channel_sum", {"column_split", "column_whole"}},
      {"two_sums", {"column_split"}},
      {"softmax_channels", {"stacked_rows"}},
      {"softmax_long", {"split_rows", "block_per_row"}},
      {"logsumexp_long", {"split_rows"}},
      {"norm_channels", {"stacked_rows"}},
      {"norm_batch", {"stacked_split", "stacked_rows"}},
      {"softmax_few", {"stacked_rows"}},
      {"turned_and_mean", {"block_per_row"}},
      {"variance_middle", {"stacked_rows"}},
      {"matmul", {"matmul_split", "matmul"}},
      {"matmul_turned", {"matmul", "matmul_split"}},
      {"matmul_double", {"matmul"}},
      {"matmul_half", {"matmul_wmma", "matmul_wmma_split", "matmul"}},
      {"linear", {"matmul_wmma", "matmul"}},
      {"bmm", {"matmul_wmma"}},
      {"attention", {"attention"}},
      {"attention_causal", {"attention_mma", "attention"}},
      {"conv2d", {"matmul"}},
      {"conv2d_half", {"matmul_wmma", "matmul"}},
      {"conv2d_depthwise", {"taps", "matmul"}},
      {"conv_transposed", {"matmul"}},
      {"max_pool", {"taps", "lanes_per_row", "block_per_row"}},
      {"avg_pool", {"taps"}},
      {"avg_pool_wide", {"taps"}},
      {"transpose", {"transpose"}},
      {"transpose_half", {"transpose"}},
      {"permute", {"transpose"}},
      {"permute_bytes", {"transpose"}},
      {"add_turned", {"transpose"}},
      {"scatter_add", {"scatter"}},
      {"scatter_set", {"scatter"}},
      {"index_add", {"scatter"}},
      {"histogram", {"scatter_block", "scatter"}},
      {"embedding", {"gather_rows"}},
      {"index_select", {"gather_rows"}},
      {"shouted_dims", {"stacked_rows"}},
      {"clashing_names", {"scan_warp", "matmul"}},
      {"segments", {"lanes_per_row"}},
      {"two_traces", {"block_per_row"}},
      {"masked_mean", {"column_whole"}},
      {"argmax_scaled", {"arg_warp"}},
  };
  return kCases;
}

bool uses(const generate::Design& design, const std::string& schedule) {
  for (const generate::Choice& choice : design.choices)
    if (choice.schedule == schedule) return true;
  return false;
}

class Schedules : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string path = fmt::format("{}/{}.py", KW_REFERENCES, GetParam().reference);
    auto loaded = task_formats::load_task(path, options_of(path));
    ASSERT_TRUE(loaded) << loaded.error().message;
    task_ = std::move(loaded).value();
    auto all = generate::designs(task_, Harness::get().options());
    ASSERT_TRUE(all) << all.error().message;
    designs_ = std::move(all).value();
  }

  task::Task task_;
  std::vector<generate::Design> designs_;
};

TEST_P(Schedules, PassTheGate) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  verification::VerifyPools pools;
  const bool all = !os::env("KW_CODEGEN_ALL").empty();
  for (const std::string& schedule : GetParam().schedules) {
    const auto design = std::find_if(designs_.begin(), designs_.end(),
                                     [&](const auto& one) { return uses(one, schedule); });
    ASSERT_NE(design, designs_.end()) << schedule << " is not offered";
    const auto text = generate::generate(task_, *design, harness.options());
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(harness.judge(*text, task_, pools, all ? "" : "spikes"), "")
        << generate::design_text(*design) << *text;
    if (!all) break;
  }
}

/// Lines of the longest __global__ function.
size_t longest_kernel(const std::vector<std::string_view>& lines) {
  size_t longest = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("__global__") == std::string_view::npos) continue;
    size_t end = i;
    while (end < lines.size() && lines[end] != "}") ++end;
    longest = std::max(longest, end - i + 1);
  }
  return longest;
}

size_t combinations(const std::vector<std::string_view>& lines) {
  size_t product = 1;
  for (const std::string_view line : lines) {
    if (line.rfind("//! tune", 0) != 0) continue;
    const std::string_view values = line.substr(0, line.find(" where "));
    product *= 1 + static_cast<size_t>(std::count(values.begin(), values.end(), ','));
  }
  return product;
}

TEST_P(Schedules, CanBeReadAndSearched) {
  for (const generate::Design& design : designs_) {
    bool ours = false;
    for (const std::string& schedule : GetParam().schedules) ours = ours || uses(design, schedule);
    if (!ours || design.choices.size() > 1) continue;
    const auto text = generate::generate(task_, design, Harness::get().options());
    ASSERT_TRUE(text) << text.error().message;
    const std::vector<std::string_view> lines = split_lines(*text);
    EXPECT_LE(longest_kernel(lines), kMostLines) << generate::design_text(design);
    EXPECT_LE(combinations(lines), kMostCombinations) << generate::design_text(design);
    for (const std::string_view line : lines) {
      const bool plan = line.rfind("//!", 0) == 0;
      EXPECT_TRUE(plan || line.size() <= kMostColumns) << generate::design_text(design) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Schedules, testing::ValuesIn(cases()),
                         [](const auto& given) { return std::string(given.param.reference); });

}  // namespace
}  // namespace kw::codegen_tests

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker-compile")
    return kw::compile::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
