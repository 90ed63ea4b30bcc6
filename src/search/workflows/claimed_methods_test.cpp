#include "workflows/claimed_methods.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::workflows {
namespace {

struct ClaimCase {
  const char* name;
  const char* line;
  bool kept;
};
class WithoutClaims : public testing::TestWithParam<ClaimCase> {};

TEST_P(WithoutClaims, DropsTheLinesOfTheseMethodsAlone) {
  const ClaimCase& one = GetParam();
  const std::string text = std::string("//! kernelwright 1\n") + one.line + "\nint x;\n";
  const std::string left =
      without_claims(text, {"memory.vectorized_access", "compute.warp_shuffle"});
  EXPECT_EQ(left, one.kept ? text : "//! kernelwright 1\nint x;\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, WithoutClaims,
    testing::Values(ClaimCase{"plain", "//! method  memory.vectorized_access", false},
                    ClaimCase{"switch", "//! method compute.warp_shuffle when A == 1, off A=0",
                              false},
                    ClaimCase{"off_only", "//! method compute.warp_shuffle, off A=0", false},
                    ClaimCase{"longer_id", "//! method compute.warp_shuffle_sync", true},
                    ClaimCase{"other", "//! method memory.tiling_smem when A == 1, off A=0", true},
                    ClaimCase{"comment", "// method memory.vectorized_access", true}),
    [](const auto& one) { return one.param.name; });

/// The text after "code:" is the code; machine code cannot be read.
class SayingTools : public TaskTools, public profile::Examiner {
 public:
  SayingTools() { examiner = this; }
  int compiles = 0;
  task::Task task_;
  task::Dims dims_;
  std::string none_;
  const task::Task& task() const override { return task_; }
  const task::Dims& dims() const override { return dims_; }
  const std::string& no_gpu() const override { return none_; }
  void expect(const std::vector<std::string>&) override {}
  Result<std::string> code_of(const std::string& kernel) override {
    ++compiles;
    return std::string(kernel.find("WIDE in 1") != std::string::npos ? "wide" : "narrow");
  }
  Result<profile::Examined> evidence(const std::string&, std::optional<double>,
                                     const std::string&) override {
    return profile::Examined{};
  }
  Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
      const std::string&) override {
    return std::optional<std::vector<profile::SassFunction>>();
  }
};

TEST(Claims, ASwitchThatChangesNothingIsAnEmptyClaim) {
  SayingTools tools;
  Claims claims(tools);
  const std::string text =
      "//! kernelwright 1\n//! task t\n//! input x: fp32[N]\n//! output y: fp32[N]\n"
      "//! tune WIDE in 1, 0\n//! tune IDLE in 1, 0\n"
      "//! method memory.vectorized_access when WIDE == 1, off WIDE=0\n"
      "//! method compute.loop_unroll when IDLE == 1, off IDLE=0\n"
      "//! method memory.coalesced_access\n"
      "//! launch f grid(1) block(32) args(x, y)\n"
      "__global__ void f(const float* x, float* y);\n";
  const auto empty = claims.empty(text, text);
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(*empty, std::vector<std::string>{"compute.loop_unroll"});
  const int before = tools.compiles;
  ASSERT_TRUE(claims.empty(text, text));
  EXPECT_EQ(tools.compiles, before) << "what was looked at is known";
  EXPECT_TRUE(claims.empty("rubbish", text)->empty());
}

}  // namespace
}  // namespace kw::workflows
