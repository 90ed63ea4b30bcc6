#include "compile/disassemble.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "compile/program_compiler.h"
#include "os/files.h"
#include "os/scratch.h"

namespace kw::compile {
namespace {

constexpr const char* kListing = "echo '.section .text.k,\"ax\"'\n";

/// The programs are shell scripts here.
class Disassemble : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = os::ScratchFolder::make("compile");
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(made).value());
  }
  std::string program(const std::string& name, const std::string& body) {
    const std::string path = folder_->path() + "/" + name;
    EXPECT_TRUE(os::write_file(path, "#!/bin/sh\n" + body));
    ::chmod(path.c_str(), 0755);
    return path;
  }
  std::optional<os::ScratchFolder> folder_;
};

TEST_F(Disassemble, SaysHowToGetATool) {
  const auto text = disassemble("cubin", {});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().blame, Blame::Environment);
  EXPECT_NE(text.error().message.find("pip install nvidia-cuda-nvdisasm"), std::string::npos);
}

TEST_F(Disassemble, GivesTheCubinToTheTool) {
  const std::string tool = program("nvdisasm",
                                   "[ \"$1\" = -c ] || exit 3\n"
                                   "[ \"$(cat $2)\" = bytes ] || exit 4\n" +
                                       std::string(kListing));
  const auto text = disassemble("bytes", {tool, ""});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, ".section .text.k,\"ax\"\n");
}

TEST_F(Disassemble, PrintsACubinOnceForTheCache) {
  ::setenv("KERNELWRIGHT_CACHE", (folder_->path() + "/cache").c_str(), 1);
  // It can write no file that we could count its starts in, so it prints its number.
  const std::string tool = program("nvdisasm", "echo $$\n" + std::string(kListing));
  std::vector<std::string> texts;
  for (const char* cubin : {"one", "two", "one", "two"}) {
    const auto text = disassemble_once(cubin, {tool, ""});
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_NE(text->find(".section .text.k"), std::string::npos);
    texts.push_back(*text);
  }
  EXPECT_EQ(texts[0], texts[2]);
  EXPECT_EQ(texts[1], texts[3]);
  EXPECT_NE(texts[0], texts[1]);
  EXPECT_FALSE(disassemble_once("one", {program("cuobjdump", "exit 2\n"), ""})) << "another tool";
  ::unsetenv("KERNELWRIGHT_CACHE");
}

struct Broken {
  const char* name;
  const char* body;
  const char* said;
};
class BrokenTool : public Disassemble, public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenTool, IsNamedInTheError) {
  const auto text = disassemble("bytes", {program("nvdisasm", GetParam().body), ""}, 0.5);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().blame, Blame::Environment);
  EXPECT_NE(text.error().message.find(GetParam().said), std::string::npos) << text.error().message;
}

TEST_P(BrokenTool, LeavesItToTheSecondOne) {
  const std::string second = program("cuobjdump", "[ \"$1\" = -sass ] && echo ' Function : k'\n");
  const auto text = disassemble("bytes", {program("nvdisasm", GetParam().body), second}, 2);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, " Function : k\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenTool,
    ::testing::Values(Broken{"Crashes", "kill -SEGV $$\n", "nvdisasm was killed by signal 11"},
                      Broken{"Hangs", "sleep 30\n", "nvdisasm did not finish within 0.5 s"},
                      Broken{"Refuses", "echo \"$2: not for sm_999\" >&2\nexit 2\n",
                             "nvdisasm ended with code 2: the cubin: not for sm_999"},
                      Broken{"PrintsRubbish", "echo hello\n", "nvdisasm printed no machine code"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(DisassembleHere, TheRealToolShowsAKernel) {
  const Disassembler found = find_disassembler();
  const Toolbox box = find_tools();
  if (!found.found()) GTEST_SKIP() << "neither nvdisasm nor cuobjdump was found";
  if (!box.nvcc || !box.ptxas) GTEST_SKIP() << "no nvcc and ptxas to make a cubin with";
  ports::CompileRequest request;
  request.source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";
  request.file_name = "twice.cu";
  request.target = "sm_90";
  request.image = ports::ImageKind::Cubin;
  request.kernels = {"twice"};
  const auto made = make_nvcc_compiler(*box.nvcc, box.ptxas)->compile(request);
  ASSERT_TRUE(made && made->compiled);
  for (const Disassembler& tools :
       {Disassembler{found.nvdisasm, ""}, Disassembler{"", found.cuobjdump}}) {
    if (!tools.found()) continue;
    const auto text = disassemble(made->compiled->image, tools);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_NE(text->find("STG.E"), std::string::npos);
  }
  const auto rubbish = disassemble("this is no cubin", found);
  ASSERT_FALSE(rubbish);
  EXPECT_EQ(rubbish.error().blame, Blame::Environment);
}

}  // namespace
}  // namespace kw::compile
