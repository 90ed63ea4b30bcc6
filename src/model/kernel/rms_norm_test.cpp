// All steps from text to Program, on small modules.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kernel/instantiate.h"
#include "kernel/select.h"
#include "kernel/test_module.h"

namespace kw::kernel {
namespace {

std::string read_example(const std::string& path) {
  std::ifstream in(std::string(KW_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(RmsNorm, RoundTripsAndBecomesAProgram) {
  const std::string text = read_example("examples/rms_norm.cu");
  const Module module = parse_or_fail(text);
  EXPECT_EQ(print(module), text);
  EXPECT_EQ(module.dims(), (std::vector<std::string>{"B", "D"}));
  Bindings bindings = bind({{"B", 4}, {"D", 4096}});
  const auto selection = select(module, bindings);
  ASSERT_TRUE(selection) << selection.error().message;
  EXPECT_EQ(selection->group, 0);
  EXPECT_EQ(selection->kernels, std::vector<std::string>{"rms_norm<128, 8>"});
  const KernelInfo info{"rms_norm<128, 8>",
                        "_Z8rms_norm",
                        "void rms_norm<128, 8>(__half const*, __half*, int, float)",
                        32,
                        16,
                        -1};
  const auto program = instantiate(module, bindings, *selection, {info});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->launches.size(), 1u);
  const Launch& launch = program->launches[0];
  EXPECT_EQ(launch.grid, (Dim3{4, 1, 1}));
  EXPECT_EQ(launch.block, (Dim3{128, 1, 1}));
  ASSERT_EQ(launch.params.size(), 4u);
  EXPECT_EQ(launch.params[0].buffer, 0);
  EXPECT_EQ(launch.params[1].buffer, 1);
  EXPECT_EQ(launch.params[2].bytes, (std::vector<uint8_t>{0x00, 0x10, 0, 0}));
  EXPECT_EQ(launch.params[3].bytes.size(), 4u);
  EXPECT_EQ(program->buffers[0].bytes, 4 * 4096 * 2);
}

TEST(RmsNorm, FallsBackToTheGeneralGroup) {
  const Module module = parse_or_fail(read_example("examples/rms_norm.cu"));
  const auto selection = select(module, bind({{"B", 4}, {"D", 7}}));
  ASSERT_TRUE(selection) << selection.error().message;
  EXPECT_EQ(selection->group, 1);
  EXPECT_EQ(selection->kernels, std::vector<std::string>{"rms_norm<128, 1>"});
}

}  // namespace
}  // namespace kw::kernel
