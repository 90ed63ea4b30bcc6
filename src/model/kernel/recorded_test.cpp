#include "kernel/recorded.h"

#include <gtest/gtest.h>

#include "kernel/instantiate.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"

namespace kw::kernel {
namespace {

constexpr const char* kHead =
    "//! kernelwright 1\n"
    "//! task add\n"
    "//! recorded add.cu, launcher solve\n"
    "//! input x: fp32[N]\n"
    "//! output y: fp32[N]\n"
    "//! scratch s0: uint8[pick(N == 8, 64, 32)] align 256\n";
constexpr const char* kPtx =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry _Z1kPf(.param .u64 p) { ret; }\n";

Result<Program> program(const std::string& text, int64_t n) {
  ParseOutcome parsed = parse(text, "add.cu");
  if (!parsed.module)
    return input_error(cuda_source::render_diagnostics(parsed.diagnostics, text, "add.cu"));
  Bindings bindings;
  bindings.dims = {{"N", n}};
  bindings.target = *arch::find_target("sm_90");
  const Selection selection = KW_TRY(select(*parsed.module, bindings));
  std::vector<KernelInfo> infos;
  for (const std::string& kernel : selection.kernels) infos.push_back({kernel, kernel, ""});
  return instantiate(*parsed.module, bindings, selection, infos);
}

TEST(Recorded, LaunchesKeepTheirBytesAndPointers) {
  const std::string text = std::string(kHead) +
                           "//! when N == 8\n"
                           "//! launch _Z1kPf grid(2) block(32) shared(16) "
                           "params(x, y+16, #0807, #00112233445566770000000000000000@8=s0-4)\n" +
                           kPtx;
  EXPECT_TRUE(is_recorded(text));
  const Result<Program> made = program(text, 8);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->launches.size(), 1u);
  const Launch& launch = made->launches[0];
  EXPECT_EQ(launch.entry, "_Z1kPf");
  EXPECT_EQ(launch.shared_bytes, 16);
  EXPECT_EQ(made->buffers[2].bytes, 32);
  ASSERT_EQ(launch.params.size(), 4u);
  EXPECT_EQ(launch.params[0].buffer, 0);
  EXPECT_EQ(launch.params[1].buffer, -1);
  const auto address = [](int buffer) {
    return uint64_t{0x1000} * (1 + static_cast<uint64_t>(buffer));
  };
  EXPECT_EQ(patched_bytes(launch.params[1], address),
            (std::vector<uint8_t>{0x10, 0x20, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(launch.params[2].bytes, (std::vector<uint8_t>{8, 7}));
  EXPECT_EQ(patched_bytes(launch.params[3], address),
            (std::vector<uint8_t>{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0xfc, 0x2f, 0, 0, 0,
                                  0, 0, 0}));
  EXPECT_EQ(recorded_ptx(text), kPtx);
}

TEST(Recorded, OtherShapesAreOutsideTheDomain) {
  const std::string text =
      std::string(kHead) + "//! when N == 8\n//! launch _Z1kPf grid(1) block(1) params(y)\n" + kPtx;
  const Result<Program> made = program(text, 9);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("outside the module's domain"), std::string::npos);
}

struct Bad {
  const char* line;
  const char* message;
};
class BadLine : public testing::TestWithParam<Bad> {};
TEST_P(BadLine, IsSaid) {
  const std::string text = std::string(kHead) + "//! " + GetParam().line + "\n" + kPtx;
  const ParseOutcome parsed = parse(text, "add.cu");
  ASSERT_FALSE(parsed.module);
  EXPECT_NE(
      cuda_source::render_diagnostics(parsed.diagnostics, text, "add.cu").find(GetParam().message),
      std::string::npos)
      << cuda_source::render_diagnostics(parsed.diagnostics, text, "add.cu");
}
INSTANTIATE_TEST_SUITE_P(
    All, BadLine,
    testing::Values(Bad{"launch k grid(1) block(1) params(z)", "there is no tensor 'z'"},
                    Bad{"launch k grid(1) block(1) params(#123)", "odd number"},
                    Bad{"launch k grid(1) block(1) params(#1234@0=x)", "a pointer at byte 0 of 2"},
                    Bad{"launch k grid(1) block(1) params(x", "expected ')'"},
                    Bad{"launch k grid(1) block(1) params(,)", "expected a tensor"},
                    Bad{"launch k grid(1) block(1) args(x)", "has no params(…)"},
                    Bad{"recorded again", "is given twice"}));

TEST(Recorded, ParamsNeedTheLine) {
  const std::string good = std::string(kHead) + "//! launch k grid(1) block(1) params(y)\n" + kPtx;
  EXPECT_TRUE(parse(good, "a.cu").module);
  const std::string text =
      "//! kernelwright 1\n//! task t\n//! output y: fp32[N]\n"
      "//! launch k grid(1) block(1) params(y)\n__global__ void k(float* y) {}\n";
  EXPECT_FALSE(parse(text, "a.cu").module);
}

TEST(Recorded, ParamTextReadsBack) {
  RecordedParam param;
  param.bytes = {0, 0, 0, 0, 0, 0, 0, 0};
  param.pointers = {{0, "x", -8}};
  EXPECT_EQ(param_text(param), "x-8");
  param.bytes = {0xab, 1, 0, 0, 0, 0, 0, 0, 0};
  param.pointers = {{1, "x", 0}};
  EXPECT_EQ(param_text(param), "#ab0100000000000000@1=x");
  param = {};
  EXPECT_EQ(param_text(param), "#");
}

}  // namespace
}  // namespace kw::kernel
