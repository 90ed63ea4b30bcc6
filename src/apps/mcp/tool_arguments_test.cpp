#include "mcp/tool_arguments.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/text.h"
#include "mcp/schema.h"
#include "os/files.h"

namespace kw::mcp {
namespace {

namespace files = std::filesystem;

/// A root with a module, a reference and links that leave the root.
class WordsInRoots : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "kw_mcp_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = files::canonical(name);
    root_ = base_ / "root";
    files::create_directories(root_ / "task");
    for (const char* file : {"a.cu", "-b.cu", "r.py", "x.npy", "task/reference.py"})
      std::ofstream(root_ / file) << "text";
    std::ofstream(base_ / "secret.cu") << "secret";
    files::create_symlink(base_ / "secret.cu", root_ / "link.cu");
    files::create_symlink(base_, root_ / "up");
    files::create_symlink(base_ / "nowhere", root_ / "dangling");
    std::ofstream(root_ / "large.cu") << std::string((1 << 20) + 1, 'x');
    auto opened = Roots::open({root_.string()});
    ASSERT_TRUE(opened);
    roots_ = *opened;
  }
  void TearDown() override { files::remove_all(base_); }

  static const AgentTool& tool(const std::string& name) {
    for (const AgentTool& one : all_tools()) {
      if (name == one.name) return one;
    }
    throw std::runtime_error(name);
  }

  Result<Words> made(const std::string& name, const std::string& arguments) {
    const auto json = Json::parse(arguments);
    EXPECT_TRUE(json) << arguments;
    EXPECT_TRUE(schema_problems(input_schema(tool(name)), *json).empty()) << arguments;
    return command_line_of(tool(name), *json, roots_);
  }
  std::string line(const std::string& name, const std::string& arguments) {
    const auto words = made(name, arguments);
    if (!words) return "refused: " + words.error().message;
    return replace_all(join(words->words, " "), root_.string(), "ROOT");
  }

  files::path base_, root_;
  Roots roots_;
};

TEST_F(WordsInRoots, ArgumentsBecomeOptionsAndFilesPositionals) {
  EXPECT_EQ(
      line("verify_kernel",
           R"({"module":"a.cu","reference":"r.py","dims":{"B":8,"D":64},"tunes":{"VEC":4},
                     "inputs":["x:fp16[B,D]"],"device":"vgpu","explain":true,"kill_rate":false,"seed":3,
                     "timeout":2.5,"background":true})"),
      "verify --reference=ROOT/r.py --input=x:fp16[B,D] --dims={\"B\":8,\"D\":64} --tune=VEC=4 "
      "--explain --seed=3 --device=vgpu --timeout=2.5 -- ROOT/a.cu");
  EXPECT_EQ(line("describe_task", R"({"reference":"task"})"), "describe -- ROOT/task");
  EXPECT_EQ(line("catalog", "{}"), "catalog");
  EXPECT_EQ(line("catalog", R"({"id":"memory"})"), "catalog -- memory");
  EXPECT_EQ(line("compare_kernels", R"({"module_a":"a.cu","module_b":"-b.cu"})"),
            "compare -- ROOT/a.cu ROOT/-b.cu");
  EXPECT_EQ(
      line("run_virtual_gpu", R"({"module":"a.cu","inputs":{"x":"x.npy","i":"uniform:1:0..9"}})"),
      "run --device=vgpu --input=x=ROOT/x.npy --input=i=uniform:1:0..9 -- ROOT/a.cu");
  EXPECT_EQ(line("optimize_open", R"({"run_dir":"task","iter":2})"),
            "optimize --run-dir=ROOT/task --iter=2 -- open-iter");
}

TEST_F(WordsInRoots, ModelsCostNothingUnlessAskedFor) {
  EXPECT_EQ(line("synthesize", R"({"reference":"r.py"})"),
            "synthesize --reference=ROOT/r.py --proposer=builtin");
  EXPECT_EQ(line("synthesize", R"({"reference":"r.py","proposer":"llm"})"),
            "synthesize --reference=ROOT/r.py --proposer=llm");
}

TEST_F(WordsInRoots, TextsBecomePrivateFilesThatGo) {
  std::string path;
  {
    const auto words = made("check_kernel", R"({"module_text":"//! kernelwright 1\n"})");
    ASSERT_TRUE(words);
    path = words->words.back();
    EXPECT_EQ(*os::read_file(path), "//! kernelwright 1\n");
    const auto mode = files::status(files::path(path).parent_path()).permissions();
    EXPECT_EQ(mode & (files::perms::group_all | files::perms::others_all), files::perms::none);
  }
  EXPECT_FALSE(os::exists(path));
}

struct Escape {
  const char* tool;
  const char* arguments;
  const char* why;
};
class Escapes : public WordsInRoots, public testing::WithParamInterface<Escape> {};

TEST_P(Escapes, AreRefused) {
  const std::string said = line(GetParam().tool, GetParam().arguments);
  EXPECT_TRUE(said.starts_with("refused: ")) << said;
  EXPECT_NE(said.find(GetParam().why), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Escapes,
    testing::Values(
        Escape{"check_kernel", R"({"module":"../secret.cu"})", "outside of the allowed folders"},
        Escape{"check_kernel", R"({"module":"/etc/passwd"})", "outside of the allowed folders"},
        Escape{"check_kernel", R"({"module":"link.cu"})", "outside of the allowed folders"},
        Escape{"check_kernel", R"({"module":"up/secret.cu"})", "outside of the allowed folders"},
        Escape{"check_kernel", R"({"module":"task/../../secret.cu"})",
               "outside of the allowed folders"},
        Escape{"check_kernel", R"({"module":"../nothing.cu"})", "outside of the allowed folders"},
        Escape{"check_kernel", R"({"module":"nothing.cu"})", "no such file"},
        Escape{"check_kernel", R"({"module":"task"})", "not a file"},
        Escape{"check_kernel", R"({"module":"large.cu"})", "at most"},
        Escape{"check_kernel", "{}", "module or module_text is missing"},
        Escape{"check_kernel", R"({"module":"a.cu","module_text":"x"})", "not both"},
        Escape{"check_kernel", R"({"module":"a.cu","target":"--help"})", "letters, digits"},
        Escape{"check_kernel", R"({"module":"a.cu","tunes":{"A=1 --json":1}})", "is not a name"},
        Escape{"verify_kernel", R"({"module":"a.cu","reference":"/etc"})",
               "outside of the allowed folders"},
        Escape{"run_virtual_gpu", R"({"module":"a.cu","inputs":{"x":"../x.npy"}})", "outside"},
        Escape{"run_virtual_gpu", R"({"module":"a.cu","inputs":{"x":"/dev/zero"}})", "outside"},
        Escape{"synthesize", R"({"reference":"r.py","out":"../runs"})",
               "outside of the allowed folders"},
        Escape{"synthesize", R"({"reference":"r.py","out":"dangling"})", "the link is broken"},
        Escape{"inspect_run", R"({"run":"../.."})", "outside of the allowed folders"},
        Escape{"inspect_run", R"({"run":"--help"})", "no such file"},
        Escape{"optimize_open", R"({"run_dir":"a.cu"})", "not a folder"}));

TEST_F(WordsInRoots, NoValueBecomesAnOption) {
  EXPECT_EQ(line("check_kernel", R"({"module":"-b.cu","absent":["--json"]})"),
            "check --absent=--json -- ROOT/-b.cu");
}

TEST(Roots, MustBeFolders) {
  EXPECT_FALSE(Roots::open({"/nonexistent"}));
  EXPECT_FALSE(Roots::open({}));
}

TEST(Lanes, TheVirtualGpuDoesNotWaitForTheRealOne) {
  for (const AgentTool& tool : all_tools()) {
    if (resource_of(tool) != ResourceClass::Gpu) continue;
    std::vector<std::string> words(tool.words.begin(), tool.words.end());
    words.emplace_back("--device=vgpu");
    EXPECT_EQ(options::resource_of(words), ResourceClass::Cpu) << tool.name;
  }
}

}  // namespace
}  // namespace kw::mcp
