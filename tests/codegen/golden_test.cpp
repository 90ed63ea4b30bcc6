// What generated modules look like, and what the passes leave of a graph: golden/NAME.py gives
// golden/NAME.cu and golden/NAME.graph. KW_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arch/arch.h"
#include "core/text.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"
#include "os/files.h"
#include "plan/codegen.h"
#include "plan/passes.h"
#include "task_formats/load.h"

namespace kw::codegen_tests {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLines = 80;     // of one kernel
constexpr size_t kMostColumns = 100;  // of device code
constexpr size_t kMostCombinations = 60;

fs::path folder() { return KW_GOLDEN_DIR; }

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".py") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void expect_golden(const std::string& file, const std::string& got) {
  const fs::path path = folder() / file;
  if (!os::env("KW_UPDATE_GOLDEN").empty()) {
    std::ofstream(path) << got;
    return;
  }
  std::ifstream stream(path);
  std::ostringstream want;
  want << stream.rdbuf();
  EXPECT_EQ(got, want.str()) << file;
}

generate::Options options(const char* target) {
  generate::Options out;
  out.target = *arch::find_target(target);
  return out;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto loaded = task_formats::load_task((folder() / (GetParam() + ".py")).string());
    ASSERT_TRUE(loaded) << loaded.error().message;
    task_ = std::move(loaded).value();
  }

  task::Task task_;
};

TEST_P(Golden, Module) {
  const auto designs = generate::designs(task_, options("sm_90"));
  ASSERT_TRUE(designs) << designs.error().message;
  const auto text = generate::generate(task_, (*designs)[0], options("sm_90"));
  ASSERT_TRUE(text) << text.error().message;
  expect_golden(GetParam() + ".cu", *text);
}

TEST_P(Golden, GraphBehindThePasses) {
  const auto graph = task_.reference->trace(task_.benchmark_shapes[0]);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto after = generate::run_passes(*graph, {});
  ASSERT_TRUE(after) << after.error().message;
  expect_golden(GetParam() + ".graph", graph::print(*after));
}

// Every design parses, keeps its kernels short and its search space small, on every target.
TEST_P(Golden, EveryDesignIsAReadableModule) {
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    const auto designs = generate::designs(task_, options(target));
    ASSERT_TRUE(designs) << designs.error().message;
    for (const generate::Design& design : *designs) {
      const std::string label = generate::design_text(design) + " on " + target;
      const auto text = generate::generate(task_, design, options(target));
      ASSERT_TRUE(text) << label << ": " << text.error().message;
      const kernel::ParseOutcome parsed = kernel::parse(*text, "module.cu");
      ASSERT_TRUE(parsed.module) << label << "\n" << *text;
      EXPECT_LE(kernel::tune_space(*parsed.module, 1000).size(), kMostCombinations) << label;
      size_t lines = 0;
      for (const std::string_view line : split_lines(*text)) {
        if (!line.starts_with("//!")) {
          EXPECT_LE(line.size(), kMostColumns) << label << "\n" << line;
        }
        if (line.starts_with("__global__")) lines = 1;
        if (lines > 0) ++lines;
        if (line == "}") {
          EXPECT_LE(lines, kMostLines) << label;
          lines = 0;
        }
      }
    }
  }
}

TEST(Designs, AreReplayedByName) {
  auto task = task_formats::load_task((folder() / "softmax.py").string());
  ASSERT_TRUE(task) << task.error().message;
  const auto designs = generate::designs(*task, options("sm_90"));
  ASSERT_TRUE(designs) << designs.error().message;
  EXPECT_GE(designs->size(), 3U);
  EXPECT_EQ(designs->back().choices.back().schedule, "generic");
  const auto once = generate::generate(*task, designs->front(), options("sm_90"));
  const auto again = generate::generate(*task, designs->front(), options("sm_90"));
  ASSERT_TRUE(once && again);
  EXPECT_EQ(*once, *again);
  const auto unknown = generate::generate(*task, {{{"softmax", "no_such_row"}}}, options("sm_90"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().blame, Blame::Input);
  const auto many = generate::generate(
      *task, {std::vector<generate::Choice>(9, {"softmax", "generic"})}, options("sm_90"));
  ASSERT_FALSE(many);
  generate::Options no_such = options("sm_90");
  no_such.disabled_passes = {"nothing"};
  EXPECT_FALSE(generate::designs(*task, no_such));
}

INSTANTIATE_TEST_SUITE_P(Modules, Golden, testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kw::codegen_tests
