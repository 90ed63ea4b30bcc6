#include "host_recording/param_reads.h"

#include <gtest/gtest.h>

namespace kw::host_recording {
namespace {

TEST(ParamReads, PaddingIsNotRead) {
  const ParamReads reads = param_reads(
      ".visible .entry k(\n\t.param .align 8 .b8 k_param_0[24],\n\t.param .u64 k_param_1,\n"
      "\t.param .align 1 .b8 k_param_2[4]\n)\n{\n"
      "\tld.param.u64 \t%rd1, [k_param_0];\n\tld.param.v2.u16 \t{%r1, %r2}, [k_param_0+8];\n"
      "\tld.param.u32 \t%r1, [k_param_0+16];\n\tmov.b64 \t%rd4, k_param_2;\n}\n"
      ".visible .entry k2(\n\t.param .u32 k2_param_0\n)\n{\n\tld.param.u8 %r1, "
      "[k2_param_0+1];\n}\n");
  const std::vector<std::vector<bool>>& k = reads.at("k");
  ASSERT_EQ(k.size(), 3u);
  std::string text;
  for (const bool one : k[0]) text += one ? '1' : '0';
  EXPECT_EQ(text, "111111111111000011110000");
  EXPECT_EQ(k[1], std::vector<bool>(8, false));
  EXPECT_EQ(k[2], std::vector<bool>(4, true));
  EXPECT_EQ(reads.at("k2")[0], (std::vector<bool>{false, true, false, false}));
}

TEST(ParamReads, AnyTextIsTaken) {
  EXPECT_TRUE(param_reads("").empty());
  EXPECT_TRUE(param_reads(".entry x(").count("x") == 1);
  param_reads(".entry x(.param .u32 x_param_0)\n{\n x_param_99999999999999999999 x_param_0+zz]\n}");
}

}  // namespace
}  // namespace kw::host_recording
