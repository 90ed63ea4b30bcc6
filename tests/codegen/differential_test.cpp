// Every generated module must be right: references through the whole gate, cases of the op table
// against the interpreter. A sample by default; KW_CODEGEN_ALL=1 takes all of them,
// KW_CODEGEN_ONLY=TEXT those whose name has the text in it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/compile_worker.h"
#include "core/contains.h"
#include "core/text.h"
#include "harness.h"
#include "inputs/families.h"
#include "os/files.h"
#include "table.h"
#include "task_formats/load.h"
#include "tracing.h"

namespace kw::codegen_tests {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSample = 12;  // every so many cases, where not all are asked for
// Always taken: one thread would compute so much of it that the partition must cut it.
constexpr std::string_view kLarge = "tests_frontend_agree_resizing";

const char* const kTables[] = {"activation", "arithmetic", "aten",   "attention", "cast",
                               "creation",   "indexing",   "matmul", "movement",  "norm",
                               "pointwise",  "reduction",  "scan",   "selection"};

bool all_asked() { return !os::env("KW_CODEGEN_ALL").empty(); }

bool is_taken(const std::string& name, size_t i) {
  const std::string only = os::env("KW_CODEGEN_ONLY");
  if (!only.empty()) return name.find(only) != std::string::npos;
  return all_asked() || name == kLarge || i % kSample == 0;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// All designs of one graph; what is wrong with each, by name.
void judge_graph(const std::string& name, const graph::Graph& graph,
                 const std::vector<tensor::HostTensor>& inputs) {
  Harness& harness = Harness::get();
  const task::Task task = task_of(graph);
  const auto designs = generate::designs(task, harness.options());
  ASSERT_TRUE(designs) << name << ": " << designs.error().message;
  for (const generate::Design& design : *designs) {
    const std::string label = name + ": " + generate::design_text(design);
    const auto text = generate::generate(task, design, harness.options());
    ASSERT_TRUE(text) << label << ": " << text.error().message;
    const std::string wrong = harness.judge(*text, graph, inputs);
    EXPECT_EQ(wrong, "") << label << "\n" << graph::print(graph) << *text;
    if (!all_asked()) break;
  }
  if (is_floor((*designs)[0])) {
    std::printf("floor: %s: %s\n", name.c_str(), generate::design_text((*designs)[0]).c_str());
  }
}

class Tables : public testing::TestWithParam<const char*> {};

TEST_P(Tables, GiveTheTruth) {
  if (!Harness::get().problem().empty()) GTEST_SKIP() << Harness::get().problem();
  const auto cases = ops::parse_table(
      read_text(fs::path(KW_OPS_DIR) / "tables" / (std::string(GetParam()) + ".txt")));
  ASSERT_TRUE(cases) << cases.error().message;
  const auto tracing = ops::Tracing::parse(*cases);
  ASSERT_TRUE(tracing) << tracing.error().message;
  for (size_t i = 0; i < cases->size(); ++i) {
    const ops::Case& one = (*cases)[i];
    if (one.refused || !is_taken(one.name, i)) continue;
    const auto graph = tracing->trace(one, i);
    ASSERT_TRUE(graph) << one.name << ": " << graph.error().message;
    std::vector<tensor::HostTensor> inputs;
    for (const ops::InputSpec& spec : one.inputs) {
      auto input = ops::make_input(one, spec);
      ASSERT_TRUE(input) << one.name << ": " << input.error().message;
      inputs.push_back(std::move(input).value());
    }
    judge_graph(std::string(GetParam()) + "/" + one.name, *graph, inputs);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Tables, testing::ValuesIn(kTables),
                         [](const auto& one) { return std::string(one.param); });

struct ReferenceCase {
  std::string name;
  fs::path path;  // a file or folder
};

std::ostream& operator<<(std::ostream& out, const ReferenceCase& one) { return out << one.name; }

/// Those asked for.
std::vector<ReferenceCase> references() {
  std::vector<ReferenceCase> all, taken;
  const fs::path root = KW_SOURCE_DIR;
  for (const char* folder :
       {"tests/codegen/golden", "tests/frontend/agree", "tests/frontend/kernelbench",
        "suites/internal", "suites/extended", "suites/kernelbench"}) {
    if (!fs::exists(root / folder)) continue;
    const std::string kind = replace_all(folder, "/", "_") + "_";
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const bool file = entry.path().extension() == ".py";
      if (file || fs::exists(entry.path() / "task.toml"))
        all.push_back({kind + entry.path().stem().string(), entry.path()});
    }
  }
  std::ranges::sort(all, {}, &ReferenceCase::name);
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_taken(all[i].name, i)) taken.push_back(all[i]);
  }
  return taken;
}

// How the judge says that no input of the family could reveal a wrong kernel.
constexpr const char* kSaysNothing = "no cell can distinguish";

class References : public testing::TestWithParam<ReferenceCase> {};

TEST_P(References, PassTheGate) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  const std::string path = GetParam().path.string();
  const auto task = task_formats::load_task(
      path, fs::is_directory(path) ? task_formats::LoadOptions{} : options_of(path));
  ASSERT_TRUE(task) << task.error().message;
  const auto designs = generate::designs(*task, harness.options());
  ASSERT_TRUE(designs) << designs.error().message;
  if (is_floor((*designs)[0]))
    std::printf("floor: %s\n", generate::design_text((*designs)[0]).c_str());
  // The first design meets every family of inputs. The others meet one that can tell a wrong kernel
  // for this task; the test of schedules runs each schedule with all families.
  verification::VerifyPools whole, of_family;
  std::vector<std::string> families = inputs::families_for(*task);
  std::ranges::stable_partition(families, [](const auto& name) { return name == "spikes"; });
  for (const generate::Design& design : *designs) {
    const std::string label = generate::design_text(design);
    const auto text = generate::generate(*task, design, harness.options());
    ASSERT_TRUE(text) << label << ": " << text.error().message;
    const bool first = design == designs->front();
    std::string problem =
        harness.judge(*text, *task, first ? whole : of_family, first ? "" : families.front());
    while (!first && families.size() > 1 && problem.find(kSaysNothing) != std::string::npos) {
      families.erase(families.begin());
      of_family = {};  // its cells are of the family before
      problem = harness.judge(*text, *task, of_family, families.front());
    }
    EXPECT_EQ(problem, "") << label;
    std::printf("%s\n", label.c_str());
    if (!all_asked()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Gate, References, testing::ValuesIn(references()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kw::codegen_tests

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker-compile")
    return kw::compile::compile_worker_main();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what is known when a run is cut short stays known
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
