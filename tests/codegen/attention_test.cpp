// Attention in one kernel: the first design of every reference in attention/ is the one named here
// and passes the gate, at shapes with several tiles of keys and ragged ends. attention/NAME.cu is
// what is written for NAME.py; KW_UPDATE_GOLDEN=1 writes it anew.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/text.h"
#include "harness.h"
#include "os/files.h"
#include "task_formats/load.h"

namespace kw::codegen_tests {
namespace {

namespace fs = std::filesystem;

struct FusedCase {
  const char* name;
  const char* design;
  task::Dims benchmark;
  std::vector<task::Dims> shapes;
};

const std::vector<task::Dims> kLengths = {{{"L", 20}, {"S", 150}}, {{"L", 3}, {"S", 65}}};

const FusedCase kFused[] = {
    {"awkward_fp16", "attention_mma", {{"L", 160}, {"S", 300}}, kLengths},
    {"bias_fp16",
     "attention_mma",
     {{"L", 160}, {"S", 300}, {"D", 64}},
     {{{"L", 20}, {"S", 90}, {"D", 72}},
      {{"L", 5}, {"S", 66}, {"D", 37}},
      {{"L", 3}, {"S", 9}, {"D", 256}},
      {{"L", 3}, {"S", 70}, {"D", 300}}}},
    {"bool_mask_fp16", "attention_mma", {{"L", 160}, {"S", 300}}, kLengths},
    {"by_hand_fp16", "attention_mma", {{"L", 160}, {"S", 300}}, kLengths},
    {"by_hand_fp32",
     "attention",
     {{"L", 160}, {"S", 300}, {"D", 64}, {"F", 80}},
     {{{"L", 20}, {"S", 150}, {"D", 40}, {"F", 80}}, {{"L", 3}, {"S", 65}, {"D", 3}, {"F", 130}}}},
    {"causal_bf16", "attention_mma", {{"L", 160}, {"S", 300}}, kLengths},
    {"causal_fp32", "attention", {{"L", 70}, {"S", 140}}, kLengths},
    {"computed_fp16",
     "attention_mma",
     {{"L", 160}, {"S", 300}, {"D", 64}, {"F", 80}},
     {{{"L", 20}, {"S", 150}, {"D", 40}, {"F", 72}}}},
    {"decoder_block", "attention", {}, {}},
    {"gated_fp16", "attention_mma", {{"L", 160}}, {{{"L", 90}}, {{"L", 3}}}},
    {"grouped_fp16", "attention_mma", {{"L", 160}, {"S", 300}}, kLengths},
    {"softcap_bf16", "attention_mma", {{"L", 160}, {"S", 300}}, kLengths},
    {"tril_fp16", "attention_mma", {{"L", 160}}, {{{"L", 90}}, {{"L", 3}}}},
    {"wide_values_fp16",
     "attention",
     {{"L", 160}, {"S", 300}, {"D", 64}, {"F", 80}},
     {{{"L", 20}, {"S", 150}, {"D", 40}, {"F", 80}}}},
};

class Fused : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    const FusedCase& one = kFused[GetParam()];
    task_formats::LoadOptions options;
    options.dims = one.benchmark;
    auto loaded = task_formats::load_task(path(".py").string(), options);
    ASSERT_TRUE(loaded) << loaded.error().message;
    task_ = std::move(loaded).value();
    for (auto& [name, range] : task_.dims) {
      const int64_t value = task_.benchmark_shapes[0].at(name);
      if (one.benchmark.count(name) == 0) range = {value, value, 1};  // written as a number
    }
    if (!one.shapes.empty()) task_.correctness_shapes.clear();
    for (task::Dims shape : one.shapes) {
      shape.insert(task_.benchmark_shapes[0].begin(), task_.benchmark_shapes[0].end());
      task_.correctness_shapes.push_back(shape);
    }
    const auto designs = generate::designs(task_, Harness::get().options());
    ASSERT_TRUE(designs) << designs.error().message;
    design_ = designs->front();
    const auto text = generate::generate(task_, design_, Harness::get().options());
    ASSERT_TRUE(text) << text.error().message;
    text_ = *text;
  }

  static fs::path path(const std::string& end) {
    return fs::path(KW_ATTENTION_DIR) / (kFused[GetParam()].name + end);
  }

  task::Task task_;
  generate::Design design_;
  std::string text_;
};

TEST_P(Fused, IsOneKernel) {
  const size_t middle = design_.choices.size() / 2;
  EXPECT_EQ(design_.choices[middle].schedule, kFused[GetParam()].design)
      << generate::design_text(design_);
}

TEST_P(Fused, PassesTheGate) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  verification::VerifyPools pools;
  EXPECT_EQ(harness.judge(text_, task_, pools), "") << text_;
}

/// One of each kind, whose text is kept.
class Kept : public Fused {};

TEST_P(Kept, IsRightWithEverySwitchOff) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  generate::Options options = harness.options();
  options.switches = true;
  const auto text = generate::generate(task_, design_, options);
  ASSERT_TRUE(text) << text.error().message;
  verification::VerifyPools pools;
  std::vector<std::string> switches = {"SHUFFLE"};
  if (!os::env("KW_CODEGEN_ALL").empty()) switches = {"SHUFFLE", "UNROLLED", "RESTRICT"};
  for (const std::string& name : switches) {
    const std::string on = name + " in 1, 0", off = name + " in 0, 1";
    ASSERT_NE(text->find(on), std::string::npos) << name;
    EXPECT_EQ(harness.judge(replace_all(*text, on, off), task_, pools, "normal"), "") << name;
  }
}

TEST_P(Kept, IsRightWithEveryTile) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  verification::VerifyPools pools;
  const std::pair<const char*, const char*> tiles[] = {
      {"TALL in 1, 2", "TALL in 2"},
      {"WARPS in 4, 8", "WARPS in 8"},
      {"KEYS in 64, 32, 128", "KEYS in 32"},
      {"KEYS in 64, 32, 128", "KEYS in 128"},
      {"ROWS_PLAIN in 64, 128", "ROWS_PLAIN in 128"}};
  int tried = 0;
  for (const auto& [first, other] : tiles) {
    if (text_.find(first) == std::string::npos) continue;
    ++tried;
    EXPECT_EQ(harness.judge(replace_all(text_, first, other), task_, pools, "normal"), "") << other;
  }
  EXPECT_GT(tried, 0);
}

TEST_P(Kept, ReadsAsItDid) {
  if (!os::env("KW_UPDATE_GOLDEN").empty()) {
    std::ofstream(path(".cu")) << text_;
    return;
  }
  std::ifstream stream(path(".cu"));
  std::ostringstream want;
  want << stream.rdbuf();
  EXPECT_EQ(text_, want.str());
}

std::string case_name(const testing::TestParamInfo<size_t>& one) { return kFused[one.param].name; }

std::vector<size_t> kept_cases() {
  std::vector<size_t> kept;
  for (size_t i = 0; i < std::size(kFused); ++i) {
    const std::string name = kFused[i].name;
    if (name == "by_hand_fp32" || name == "causal_bf16") kept.push_back(i);
  }
  return kept;
}

INSTANTIATE_TEST_SUITE_P(Attention, Fused, testing::Range<size_t>(0, std::size(kFused)), case_name);
INSTANTIATE_TEST_SUITE_P(Attention, Kept, testing::ValuesIn(kept_cases()), case_name);

}  // namespace
}  // namespace kw::codegen_tests
