#include "compile/recorded_compiler.h"

#include <gtest/gtest.h>

namespace kw::compile {
namespace {

class Behind : public ports::Compiler {
 public:
  std::string name() const override { return "behind"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest&) override {
    return environment_error("asked");
  }
};

constexpr const char* kText =
    "//! kernelwright 1\n//! recorded a.cu\n"
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry _Z3addPfi(\n.param .u64 a,\n.param .u32 b\n)\n{\n ret;\n}\n";

ports::CompileRequest request(const std::string& text, const std::string& kernel) {
  ports::CompileRequest made;
  made.source = text;
  made.target = "sm_90";
  made.image = ports::ImageKind::Cubin;
  made.kernels = {kernel};
  return made;
}

TEST(RecordedCompiler, GivesThePtxThatIsThere) {
  RecordedCompiler compiler(std::make_unique<Behind>());
  const auto outcome = compiler.compile(request(kText, "_Z3addPfi"));
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->compiled);
  EXPECT_EQ(outcome->compiled->kind, ports::ImageKind::Ptx);
  EXPECT_EQ(outcome->compiled->image.rfind(".version", 0), 0u);
  EXPECT_EQ(outcome->compiled->kernels[0].signature, "add(float*, int)");
}

TEST(RecordedCompiler, MissesKernelsAndPassesOthersOn) {
  RecordedCompiler compiler(std::make_unique<Behind>());
  const auto outcome = compiler.compile(request(kText, "other"));
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->failed);
  EXPECT_NE(outcome->failed->messages[0].text.find("'other'"), std::string::npos);
  EXPECT_FALSE(compiler.compile(request("__global__ void k() {}", "k")));
}

}  // namespace
}  // namespace kw::compile
