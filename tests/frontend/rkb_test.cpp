// Folders as robust-kbench has them, with every oddity such folders were found to have.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/text.h"
#include "task_formats/load.h"
#include "task_formats/load_rkb.h"

namespace kw::task_formats {
namespace {

std::string folder(const std::string& name) {
  return std::string(KW_REFERENCES_DIR) + "/rkb/" + name;
}

RkbFolder read_fixture(const std::string& name) {
  auto folder_read = read_rkb(folder(name), {});
  EXPECT_TRUE(folder_read) << folder_read.error().message;
  return folder_read ? std::move(folder_read).value() : RkbFolder{};
}

std::string text_of_problems(const RkbFolder& read) {
  std::string text;
  for (const FolderProblem& one : read.problems)
    text += (one.error ? "error " : "warning ") + one.rule + ": " + one.message + "\n";
  return text;
}

TEST(Rkb, ConfigurationsBecomeShapesOfOneTask) {
  const RkbFolder norm = read_fixture("row_norm");
  EXPECT_EQ(text_of_problems(norm), "");
  ASSERT_EQ(norm.tasks.size(), 1U);  // init methods change values only, and those are drawn here
  const task::Task& task = norm.tasks[0];
  EXPECT_EQ(task.name, "row_norm");
  EXPECT_EQ(task.format, "robust-kbench");
  EXPECT_EQ(task.prompt, "Centres every instance and divides by its spread.");
  ASSERT_EQ(task.inputs.size(), 3U);
  EXPECT_EQ(task.inputs[0].shape,
            (std::vector<std::string>{"batch_size", "extents_0", "extents_1"}));
  EXPECT_EQ(task.inputs[1].name, "gain");
  EXPECT_EQ(task.inputs[1].role, task::Role::Weight);
  const std::vector<task::Dims> timed = {
      {{"batch_size", 64}, {"extents_0", 32}, {"extents_1", 64}}};
  EXPECT_EQ(task.benchmark_shapes, timed);
  for (const int64_t batch : {1, 8}) {
    for (const int64_t extent : {1, 8}) {
      const task::Dims want = {{"batch_size", batch}, {"extents_0", extent}, {"extents_1", 24}};
      EXPECT_EQ(std::ranges::count(task.correctness_shapes, want), 1) << task::dims_text(want);
    }
  }
}

TEST(Rkb, EveryShapeOfATaskHasItsInputs) {
  LoadOptions equal, other;
  equal.dims = {{"features", 48}, {"out_features", 48}};
  other.dims = {{"features", 40}, {"out_features", 24}};
  for (const LoadOptions& options : {LoadOptions{}, equal, other}) {
    const auto read = read_rkb(folder("block"), options);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_FALSE(read->tasks.empty());
    for (const task::Task& task : read->tasks) {
      for (const auto* list : {&task.benchmark_shapes, &task.correctness_shapes}) {
        ASSERT_FALSE(list->empty());
        for (const task::Dims& dims : *list) {
          const auto graph = task.graph_at(dims);
          EXPECT_TRUE(graph) << task.name << ": " << graph.error().message;
        }
      }
    }
  }
}

TEST(Rkb, ComputationsThatDifferBecomeTasksOfTheirOwn) {
  const RkbFolder block = read_fixture("block");
  std::vector<std::string> names;
  for (const task::Task& task : block.tasks) names.push_back(task.name);
  EXPECT_EQ(join(names, " "), "block block[step=2] block[features=128]");
  EXPECT_EQ(text_of_problems(block),
            "warning input-names: func_forward.py has no input_names\n"
            "warning config-missing: config_forward.json: unknown list 'multi_inits_configs' (did "
            "you mean 'multi_init_configs'?)\n");
  const auto chosen = load_task(folder("block"), {"step=2", {}, {}, {}, false, {}});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->name, "block[step=2]");
  const auto unknown = load_task(folder("block"), {"step=3", {}, {}, {}, false, {}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("it has: block, block[step=2]"), std::string::npos);
}

struct Odd {
  const char* path;
  const char* problems;
};

class RkbProblems : public testing::TestWithParam<Odd> {};

TEST_P(RkbProblems, AreNamed) {
  const RkbFolder read_folder = read_fixture(GetParam().path);
  EXPECT_EQ(text_of_problems(read_folder), GetParam().problems);
  EXPECT_FALSE(read_folder.tasks.empty());
}

constexpr Odd kOdd[] = {
    {"window_max",
     "warning config-duplicate: config_forward.json: of 8 configurations in 'multi_*' only 2 "
     "differ\n"
     "error config-contradiction: Model() takes no 'kernel_size', which single init 0, input 0, "
     "shared 0 gives it\n"},
    {"window_max/func_backward.py",
     "error backward-call: func_backward.py: 'x' is the tuple of saved tensors, not a tensor: "
     "backward_fn() is given a tuple\n"},
    {"spread_linear", "warning input-names: func_forward.py has no input_names\n"},
    {"spread_linear/func_backward.py",
     "warning input-names: func_backward.py: input_names is [x, target], but Model.forward takes "
     "[x]\n"
     "error backward-call: func_backward.py: backward() returns 2 gradients, but forward() takes 3 "
     "arguments\n"
     "warning directions-differ: 'x' has 3 dims in func_forward.py and 2 in func_backward.py\n"},
    {"class_loss", ""},
    {"clash",
     "warning config-contradiction: config_forward.json: 'out_features' is 4, but the shared "
     "config makes it 8 (single init 0, input 0, shared 0)\n"
     "error config-contradiction: get_inputs() takes no 'out_features', which single init 0, input "
     "0, shared 0 gives it (did you mean 'features'?)\n"
     "error config-contradiction: the reference refuses a configuration: func_forward.py:7:12: "
     "error: mat1 and mat2 shapes cannot be multiplied (4x16 and 32x8), at batch_size=4 "
     "features=16 "
     "init_features=32 out_features=8 (multi init 1, input 0, shared 0)\n"},
    {"no_config",
     "error config-missing: there is no config_forward.json: only defaults are known\n"},
};
INSTANTIATE_TEST_SUITE_P(Folders, RkbProblems, testing::ValuesIn(kOdd), [](const auto& row) {
  std::string name = row.param.path;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(Rkb, BackwardCallsAreReadInTheFilesOwnOrder) {
  const RkbFolder norm = read_fixture("row_norm/func_backward.py");
  ASSERT_EQ(norm.tasks.size(), 1U);
  EXPECT_EQ(norm.tasks[0].name, "row_norm.backward");
  const std::vector<std::string>& notes = norm.tasks[0].notes;
  EXPECT_EQ(std::ranges::count(notes,
                               "the folder's own harness calls backward_fn(upstream, x, gain, "
                               "shift, eps, tuple(x.shape[1:]))"),
            1)
      << join(notes, "\n");
}

TEST(Rkb, BackwardTasksHaveOneOrder) {
  LoadOptions options;
  options.function = "backward";
  const auto task = load_task(folder("row_norm"), options);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->name, "row_norm.backward");
  std::vector<std::string> inputs;
  for (const task::TensorSpec& input : task->inputs) inputs.push_back(input.name);
  EXPECT_EQ(inputs.back(), "grad_out0");
  EXPECT_EQ(join(task->output_names, " "), "grad_x grad_gain grad_shift");
  const task::Dims own = {{"batch_size", 3}, {"extents_0", 8}, {"extents_1", 24}};
  EXPECT_EQ(std::ranges::count(task->correctness_shapes, own), 1) << "config_backward.json's";
}

TEST(Rkb, RandomReferencesAreRefused) {
  const auto noisy = read_rkb(folder("noisy"), {});
  ASSERT_FALSE(noisy);
  EXPECT_NE(noisy.error().message.find("randn_like"), std::string::npos) << noisy.error().message;
}

TEST(RkbConfigs, BrokenFilesAreErrors) {
  for (const char* text : {"", "[1, 2]", "{\"single_input_configs\": 3}",
                           "{\"single_input_configs\": [3]}", "{\"single_input_configs\": "}) {
    std::vector<FolderProblem> problems;
    const auto configs = parse_rkb_configs(text, "config.json", &problems);
    ASSERT_FALSE(configs) << text;
    EXPECT_TRUE(configs.error().message.starts_with("config.json")) << configs.error().message;
  }
}

TEST(RkbConfigs, MissingListsAreDefaults) {
  std::vector<FolderProblem> problems;
  const auto configs = parse_rkb_configs("{\"multi_init_configs\": []}", "config.json", &problems);
  ASSERT_TRUE(configs);
  EXPECT_EQ(configs->timed.size(), 1U);
  EXPECT_EQ(configs->tested.size(), 1U);
  EXPECT_EQ(problems.size(), 6U);
  EXPECT_EQ(std::ranges::count_if(problems, [](const auto& one) { return one.error; }), 1);
}

TEST(RkbConfigs, TooManyAreRefused) {
  std::string list = "[";
  for (int i = 0; i < 100; ++i) list += (i ? ",{\"n\":" : "{\"n\":") + std::to_string(i) + "}";
  list += "]";
  const std::string text =
      "{\"single_input_configs\": " + list + ", \"single_init_configs\": " + list + "}";
  std::vector<FolderProblem> problems;
  const auto configs = parse_rkb_configs(text, "config.json", &problems);
  ASSERT_FALSE(configs);
  EXPECT_NE(configs.error().message.find("more than 4096"), std::string::npos);
}

}  // namespace
}  // namespace kw::task_formats
