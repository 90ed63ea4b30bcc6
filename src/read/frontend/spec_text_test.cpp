#include "frontend/spec_text.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::frontend {
namespace {

struct TextCase {
  const char* name;
  const char* text;
  const char* want;  // "fp16: B | 2 * D", or the error
};

std::string shown(const Result<TensorText>& parsed) {
  if (!parsed) return parsed.error().message;
  return std::string(tensor::dtype_name(parsed->dtype)) + ": " + join(parsed->shape, " | ");
}

class Texts : public testing::TestWithParam<TextCase> {};

TEST_P(Texts, Parse) { EXPECT_EQ(shown(parse_tensor_text(GetParam().text)), GetParam().want); }

const TextCase kTexts[] = {
    {"plain", "fp16[B, D]", "fp16: B | D"},
    {"blanks", " fp32 [ B,2*D ] ", "fp32: B | 2*D"},
    {"scalar", "int64[]", "int64: "},
    {"torch_name", "bfloat16[N]", "bf16: N"},
    {"function", "fp8e4m3[ceil_div(N, 2), min(A, B)]", "fp8e4m3: ceil_div(N, 2) | min(A, B)"},
    {"numbers", "bool[3, 4]", "bool: 3 | 4"},
    {"no_shape", "fp32", "'fp32' is not a tensor: write it like fp16[B, D]: a dtype and extents"},
    {"dtype", "float31[N]", "unknown dtype 'float31'"},
    {"extent", "fp32[B,]",
     "'' is not an extent: expected a number, a name or '(', found the end of "
     "the line"},
    {"reserved", "fp32[SMS]", "'SMS' cannot be the name of a dim"},
};
INSTANTIATE_TEST_SUITE_P(All, Texts, testing::ValuesIn(kTexts),
                         [](const auto& one) { return std::string(one.param.name); });

struct ExtentCase {
  const char* text;
  int64_t value;
  const char* symbolic;
};

TEST(Extents, KeepTheirSymbols) {
  const task::Dims dims = {{"B", 6}, {"D", 8}};
  const ExtentCase cases[] = {{"B", 6, "B"},          {"2 * D + 1", 17, "2 * D + 1"},
                              {"B * D / D", 6, "B"},  {"ceil_div(B, 4)", 2, "((B + 3) / 4)"},
                              {"-1 + B", 5, "B - 1"}, {"7 % 4", 3, "3"},
                              {"max(2, 5)", 5, "5"}};
  for (const ExtentCase& one : cases) {
    const auto got = extent(one.text, dims);
    ASSERT_TRUE(got) << one.text << ": " << got.error().message;
    EXPECT_EQ(got->value(), one.value) << one.text;
    EXPECT_EQ(got->text(), one.symbolic) << one.text;
  }
}

TEST(Extents, AreBounded) {
  const task::Dims dims = {{"B", 6}, {"H", int64_t{1} << 39}};
  EXPECT_EQ(extent("B - 7", dims).error().message,
            "extent 'B - 7' is -1 (B=6 H=549755813888), "
            "outside 0 … 2^40");
  EXPECT_FALSE(extent("4 * H", dims));
  EXPECT_FALSE(extent("B / (B - 6)", dims));
  EXPECT_EQ(extent("E", dims).error().message, "no value for dim E; pass --dims E=…");
  EXPECT_FALSE(extent("B < 3", dims));
  EXPECT_EQ(names_in("2 * D + ceil_div(B, D)"), (std::set<std::string>{"B", "D"}));
}

}  // namespace
}  // namespace kw::frontend
