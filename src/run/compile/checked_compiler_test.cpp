#include "compile/checked_compiler.h"

#include <gtest/gtest.h>

namespace kw::compile {
namespace {

/// Gives this PTX, or bytes that are not PTX when a cubin is asked for.
class FixedCompiler : public ports::Compiler {
 public:
  explicit FixedCompiler(std::string body) : body_(std::move(body)) {}
  std::string name() const override { return "fixed"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    ports::CompileOutcome outcome;
    outcome.compiled.emplace();
    outcome.compiled->kind = request.image;
    outcome.compiled->compiler = name();
    outcome.compiled->image =
        request.image == ports::ImageKind::Cubin
            ? "\x7f"
              "ELF"
            : ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n"
              ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [y];\n\t.loc 1 12 3\n" +
                  body_ + "\nret;\n}\n\t.file 1 \"m.cu\"\n";
    return outcome;
  }

 private:
  std::string body_;
};

ports::CompileOutcome compiled(const std::string& body, ports::ImageKind image) {
  CheckedCompiler compiler(std::make_unique<FixedCompiler>(body));
  ports::CompileRequest request;
  request.file_name = "m.cu";
  request.image = image;
  auto outcome = compiler.compile(request);
  return outcome ? std::move(outcome).value() : ports::CompileOutcome();
}

TEST(CheckedCompiler, RefusesWhatReadsTheMachineAndNamesTheLine) {
  for (const auto image : {ports::ImageKind::Ptx, ports::ImageKind::Cubin}) {
    const auto refused = compiled("mov.u32 %r1, %smid;", image);
    ASSERT_TRUE(refused.failed);
    EXPECT_EQ(refused.failed->messages[0].line, 12);
    EXPECT_EQ(refused.failed->messages[0].text.rfind("the device code reads %smid: ", 0), 0U);
    const auto passed = compiled("mov.u32 %r1, %laneid;", image);
    ASSERT_TRUE(passed.compiled);
    EXPECT_EQ(passed.compiled->kind, image);
  }
}

TEST(CheckedCompiler, RefusesInstructionsThatAreNotAllowed) {
  const auto refused = compiled("pmevent 7;", ports::ImageKind::Ptx);
  ASSERT_TRUE(refused.failed);
  EXPECT_EQ(refused.failed->messages[0].line, 12);
  EXPECT_EQ(
      refused.failed->messages[0].text.rfind("the device code has the instruction 'pmevent'", 0),
      0U);
}

}  // namespace
}  // namespace kw::compile
