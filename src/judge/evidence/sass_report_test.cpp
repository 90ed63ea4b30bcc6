// Machine code of fake kernels: the compiler names the image it made, and a script prints its code.
#include "evidence/sass_report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "binding/load.h"
#include "os/files.h"
#include "store/test_folder.h"

namespace kw::evidence {
namespace {

constexpr const char* kSwitched =
    "//! kernelwright 1\n"
    "//! task twice\n"
    "//! input x: fp32[N]\n"
    "//! output y: fp32[N]\n"
    "//! tune VEC in 4, 1\n"
    "//! method memory.vectorized_access when VEC > 1, off VEC=1\n"
    "//! launch twice<VEC> grid(N) block(64) args(x, y, N)\n"
    "template <int VEC> __global__ void twice(const float* x, float* y, int n) {}\n";

/// The image contains the tunable's value.
class NamingCompiler : public ports::Compiler {
 public:
  bool fail = false, cubins = true;
  std::string name() const override { return "fake 1.0"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    if (!cubins) return environment_error("no ptxas");
    ports::CompileOutcome outcome;
    if (fail) {
      outcome.failed =
          ports::CompileFailed{"fake 1.0",
                               {{ports::CompileMessage::Severity::Error, 9, 1, "expected"}},
                               "",
                               false,
                               false};
      return outcome;
    }
    outcome.compiled = ports::Compiled{};
    outcome.compiled->compiler = "fake 1.0";
    outcome.compiled->image = request.kernels.front();
    for (const std::string& kernel : request.kernels)
      outcome.compiled->kernels.push_back(
          {kernel, "entry", "void " + kernel + "(float const*, float*, int)", {}});
    return outcome;
  }
};

class SassTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.path() + "/nvdisasm";
    ASSERT_TRUE(os::write_file(
        path,
        "#!/bin/sh\n"
        "for f in entry idle; do\n"
        "printf '\\t.headerflags\\t@\"EF_CUDA_SM90\"\\n.section\\t.text.%s,\"ax\"\\n.text.%s:\\n' "
        "$f $f\n"
        "if grep -q 4 $2; then echo '        /*0000*/     LDG.E.128 R4, desc[UR4][R2.64] ;'\n"
        "else echo '        /*0000*/     LDG.E R4, desc[UR4][R2.64] ;'; fi\n"
        "echo '        /*0010*/     EXIT ;'\n"
        "done\n"));
    ::chmod(path.c_str(), 0755);
    request_.disassembler = compile::Disassembler{path, ""};
    auto parsed = binding::parse_module(kSwitched, "twice.cu");
    ASSERT_TRUE(parsed) << parsed.error().message;
    module_ = std::move(parsed).value();
  }
  SassReport show() {
    auto report = show_sass(module_, request_, compiler_);
    EXPECT_TRUE(report) << report.error().message;
    return report ? std::move(report).value() : SassReport();
  }
  store::TestFolder folder_;
  kernel::Module module_;
  NamingCompiler compiler_;
  SassRequest request_;
};

TEST_F(SassTest, ShowsWhatIsLaunched) {
  const SassReport report = show();
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].name, "twice<4>");
  EXPECT_EQ(report.facts().loads.at(16), 1);
  EXPECT_EQ(report.other, "");
  EXPECT_FALSE(report.verdict);
}

TEST_F(SassTest, AMethodIsComparedWithItselfSwitchedOff) {
  request_.method = "memory.vectorized_access";
  const SassReport report = show();
  EXPECT_EQ(report.other, "twice.cu without memory.vectorized_access");
  EXPECT_EQ(report.other_facts().loads.at(4), 1);
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(report.verdict->state, profile::SassState::Verified) << report.verdict->why;
  EXPECT_EQ(to_json(report, false)["verdict"]["state"].as_string(), "verified");
}

TEST_F(SassTest, AMethodThatIsOffIsNotComparedWithItself) {
  request_.method = "memory.vectorized_access";
  request_.bindings.tunes = {{"VEC", 1}};
  const SassReport report = show();
  EXPECT_EQ(report.other, "");
  ASSERT_FALSE(report.notes.empty());
  ASSERT_TRUE(report.verdict);
  EXPECT_NE(report.verdict->state, profile::SassState::Verified);
}

TEST_F(SassTest, AnotherModuleKeepsItsOwnTunables) {
  auto other = binding::parse_module(
      "//! kernelwright 1\n//! task twice\n//! input x: fp32[N]\n//! output y: fp32[N]\n"
      "//! launch plain grid(N) block(64) args(x, y, N)\n"
      "__global__ void plain(const float* x, float* y, int n) {}\n",
      "plain.cu");
  ASSERT_TRUE(other) << other.error().message;
  request_.against = &*other;
  request_.bindings.tunes = {{"VEC", 4}};
  const SassReport report = show();
  EXPECT_EQ(report.other, "plain.cu");
  ASSERT_EQ(report.other_kernels.size(), 1u);
  EXPECT_EQ(report.other_kernels[0].name, "plain");
}

TEST_F(SassTest, FailuresHaveTheirBlame) {
  compiler_.fail = true;
  EXPECT_EQ(show_sass(module_, request_, compiler_).error().blame, Blame::Input);
  compiler_.fail = false;
  compiler_.cubins = false;
  EXPECT_EQ(show_sass(module_, request_, compiler_).error().blame, Blame::Environment);
  compiler_.cubins = true;
  request_.disassembler = compile::Disassembler{};
  EXPECT_EQ(show_sass(module_, request_, compiler_).error().blame, Blame::Environment);
  request_.method = "memory.nope";
  EXPECT_EQ(show_sass(module_, request_, compiler_).error().blame, Blame::Input);
}

}  // namespace
}  // namespace kw::evidence
