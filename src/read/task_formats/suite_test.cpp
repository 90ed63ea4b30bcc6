#include "task_formats/suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace kw::task_formats {
namespace {

namespace fs = std::filesystem;

class SuiteFolder : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        fs::path(testing::TempDir()) /
        ("kw_suite_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text = "x") {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::vector<std::string> names(const std::string& path) {
    std::vector<std::string> found;
    const auto suite = open_suite(path, "");
    EXPECT_TRUE(suite) << suite.error().message;
    if (suite) {
      for (const SuiteTask& task : suite->tasks) found.push_back(task.name);
    }
    return found;
  }

  fs::path root_;
};

using Names = std::vector<std::string>;

TEST_F(SuiteFolder, FindsFoldersAndFilesInNaturalOrder) {
  write("level1/10_Relu.py");
  write("level1/2_Matmul.py");
  write("level1/__init__.py");
  write("level1/test_all.py");
  write("level1/.hidden/1_No.py");
  write("own/rms/task.toml");
  write("own/rms/reference.py");
  write("README.md");
  EXPECT_EQ(names(root_), (Names{"level1.2_Matmul", "level1.10_Relu", "own.rms"}));
  EXPECT_EQ(names(root_.string() + "/level1/"), (Names{"2_Matmul", "10_Relu"}));
}

// A complete fixture of another generator is a task; an incomplete one is only a Python file.
TEST_F(SuiteFolder, FindsFixtures) {
  for (const char* name : {"prompt.txt", "reference.py", "shapes.yaml", "notes.md"}) {
    write("suite/gelu_fp16/" + std::string(name));
    if (std::string(name) != "notes.md") write("suite/half_fp16/" + std::string(name));
  }
  EXPECT_EQ(names(root_ / "suite"), (Names{"gelu_fp16", "half_fp16.reference"}));
  EXPECT_EQ(names(root_ / "suite/gelu_fp16"), Names{"gelu_fp16"});
}

// Each direction's file is a task, and the configurations belong to both.
TEST_F(SuiteFolder, FindsFoldersOfRobustKbench) {
  write("tasks/norm/func_forward.py");
  write("tasks/norm/func_backward.py");
  write("tasks/norm/config_forward.json");
  write("tasks/pool/func_forward.py");
  EXPECT_EQ(names(root_), (Names{"tasks.norm", "tasks.norm.backward", "tasks.pool"}));
  EXPECT_EQ(names(root_.string() + "/tasks/norm"), (Names{"norm", "norm.backward"}));
  const auto before = open_suite(root_, "");
  write("tasks/norm/config_forward.json", "y");
  const auto after = open_suite(root_, "");
  ASSERT_TRUE(before && after);
  EXPECT_NE(before->tasks[0].hash, after->tasks[0].hash);
  EXPECT_EQ(before->tasks[2].hash, after->tasks[2].hash);
}

TEST_F(SuiteFolder, OneTaskIsASuite) {
  write("own/task.toml");
  write("alone.py");
  EXPECT_EQ(names((root_ / "own").string()), Names{"own"});
  EXPECT_EQ(names((root_ / "alone.py").string()), Names{"alone"});
}

TEST_F(SuiteFolder, NamesAreToldApart) {
  write("a/b.py");
  write("a.b.py");
  EXPECT_EQ(names(root_), (Names{"a.b", "a.b-2"}));
}

TEST_F(SuiteFolder, HashFollowsTheContent) {
  write("own/task.toml", "one");
  write("own/reference.py", "two");
  const auto before = open_suite(root_, "");
  write("own/reference.py", "three");
  const auto after = open_suite(root_, "");
  ASSERT_TRUE(before && after);
  EXPECT_NE(before->tasks[0].hash, after->tasks[0].hash);
}

TEST_F(SuiteFolder, AnEmptyFolderIsAnError) {
  const auto suite = open_suite(root_, "");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().blame, Blame::Input);
  EXPECT_NE(suite.error().message.find("has no tasks"), std::string::npos);
}

TEST_F(SuiteFolder, SelectsByNameAndPattern) {
  write("relu_fp16.py");
  write("gelu_fp16.py");
  write("sum_fp32.py");
  const auto suite = open_suite(root_, "");
  ASSERT_TRUE(suite);
  struct Selection {
    const char* only;
    Names want;
  };
  for (const Selection& c : {Selection{"", {"gelu_fp16", "relu_fp16", "sum_fp32"}},
                             Selection{"sum_fp32, gelu_fp16", {"gelu_fp16", "sum_fp32"}},
                             Selection{"*_fp16,relu_fp16", {"gelu_fp16", "relu_fp16"}}}) {
    const auto tasks = select_tasks(*suite, c.only);
    ASSERT_TRUE(tasks) << c.only;
    Names got;
    for (const SuiteTask& task : *tasks) got.push_back(task.name);
    EXPECT_EQ(got, c.want) << c.only;
  }
  const auto none = select_tasks(*suite, "relu_fp61");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "the suite has no task 'relu_fp61' (did you mean 'relu_fp16'?)");
}

TEST_F(SuiteFolder, CarriedSuitesAreWrittenAndFound) {
  const std::vector<SuiteInfo> suites = carried_suites();
  const auto internal = std::ranges::find(suites, "internal", &SuiteInfo::name);
  ASSERT_NE(internal, suites.end());
  EXPECT_EQ(internal->tasks, 42U);
  for (const SuiteInfo& info : suites) {
    const auto suite = open_suite(info.name, root_);
    ASSERT_TRUE(suite) << suite.error().message;
    ASSERT_TRUE(write_carried(info.name, root_));
    const auto written = open_suite((root_ / info.name).string(), "");
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(suite->tasks.size(), info.tasks) << info.name;
    ASSERT_EQ(written->tasks.size(), info.tasks) << info.name;
    for (size_t i = 0; i < info.tasks; ++i) {
      EXPECT_EQ(suite->tasks[i].name, written->tasks[i].name);
      EXPECT_EQ(suite->tasks[i].path, written->tasks[i].path);
      EXPECT_EQ(suite->tasks[i].hash, written->tasks[i].hash);
    }
  }
}

TEST(Suites, AnUnknownNameListsThoseThereAre) {
  const auto suite = open_suite("internl", "");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().blame, Blame::Input);
  EXPECT_NE(suite.error().message.find("did you mean 'internal'?"), std::string::npos);
  EXPECT_NE(suite.error().message.find("internal (42 tasks)"), std::string::npos);
}

}  // namespace
}  // namespace kw::task_formats
