// Tests small pieces of generated text: literals, expressions, layout, names.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "emit/kernel.h"
#include "text/text.h"

namespace kw::generate {
namespace {

struct LiteralRow {
  const char* name;
  DType dtype;
  double number;
  int64_t integer;
  const char* want;
};

class Literals : public testing::TestWithParam<LiteralRow> {};

TEST_P(Literals, ReadBackAsTheSameNumber) {
  const LiteralRow& row = GetParam();
  EXPECT_EQ(literal(row.dtype, row.number, row.integer), row.want);
}

INSTANTIATE_TEST_SUITE_P(
    Text, Literals,
    testing::Values(LiteralRow{"Half", DType::Fp16, 0.1, 0, "0.1f"},
                    LiteralRow{"Whole", DType::Fp32, 2, 0, "2.0f"},
                    LiteralRow{"Small", DType::Fp32, 1e-5, 0, "1e-05f"},
                    LiteralRow{"Wide", DType::Fp64, 0.1, 0, "0.1"},
                    LiteralRow{"BeyondFloat", DType::Fp32, 1e300, 0, "__int_as_float(0x7f800000)"},
                    LiteralRow{"MinusInfinity", DType::Fp32, -INFINITY, 0,
                               "-__int_as_float(0x7f800000)"},
                    LiteralRow{"Nan", DType::Bf16, NAN, 0, "nanf(\"\")"},
                    LiteralRow{"Long", DType::Int64, 0, -7, "-7LL"},
                    LiteralRow{"LowestLong", DType::Int64, 0, std::numeric_limits<int64_t>::min(),
                               "(-9223372036854775807LL - 1)"},
                    LiteralRow{"Byte", DType::Uint8, 0, 200, "static_cast<unsigned char>(200)"},
                    LiteralRow{"Bool", DType::Bool, 0, 1, "true"}),
    [](const auto& row) { return std::string(row.param.name); });

struct OpRow {
  const char* name;
  Op op;
  DType from, to;
  std::vector<Expr> operands;
  const char* want;
};

class Expressions : public testing::TestWithParam<OpRow> {};

TEST_P(Expressions, AreWrittenOnceAndParenthesised) {
  std::set<std::string> functions;
  const OpRow& row = GetParam();
  EXPECT_EQ(pointwise_text(row.op, row.from, row.to, row.operands, functions).text, row.want);
  for (const std::string& name : functions) EXPECT_TRUE(is_helper(name)) << name;
}

const Expr kA{"a"}, kSum{"b + c", false};

INSTANTIATE_TEST_SUITE_P(
    Text, Expressions,
    testing::Values(
        OpRow{"Mul", Op::Mul, DType::Fp32, DType::Fp32, {kA, kSum}, "a * (b + c)"},
        OpRow{"Call", Op::Exp, DType::Fp16, DType::Fp16, {kSum}, "expf(b + c)"},
        OpRow{"Double", Op::Exp, DType::Fp64, DType::Fp64, {kSum}, "exp(b + c)"},
        OpRow{"Abs",
              Op::Abs,
              DType::Int32,
              DType::Int32,
              {kSum},
              "((b + c) < 0 ? -(b + c) : (b + c))"},
        OpRow{"NarrowAdd",
              Op::Add,
              DType::Int8,
              DType::Int8,
              {kA, kA},
              "static_cast<signed char>(a + a)"},
        OpRow{"Compare", Op::Lt, DType::Int8, DType::Bool, {kA, kA}, "a < a"},
        OpRow{"NotBool", Op::Not, DType::Bool, DType::Bool, {kA}, "!a"},
        OpRow{"NotInt", Op::Not, DType::Int32, DType::Int32, {kA}, "~a"},
        OpRow{"Where", Op::Where, DType::Fp32, DType::Fp32, {kA, kSum, kA}, "a ? (b + c) : a"},
        OpRow{"HalfCast", Op::Cast, DType::Fp16, DType::Fp32, {kA}, "a"},
        OpRow{"ToBool", Op::Cast, DType::Fp32, DType::Bool, {kSum}, "(b + c) != 0.0f"},
        OpRow{"ToByte",
              Op::Cast,
              DType::Fp32,
              DType::Uint8,
              {kA},
              "static_cast<unsigned char>(static_cast<long long>(a))"},
        OpRow{"ToLong", Op::Cast, DType::Fp32, DType::Int64, {kA}, "static_cast<long long>(a)"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Text, BlocksCloseThemselves) {
  CudaWriter w;
  {
    const auto kernel = w.block("__global__ void k(float* x)");
    const auto loop = w.block("for (int i = 0; i < 4; ++i)");
    w.line("x[i] += 1.0f;");
  }
  EXPECT_EQ(w.text(),
            "__global__ void k(float* x) {\n  for (int i = 0; i < 4; ++i) {\n    x[i] += 1.0f;\n"
            "  }\n}\n");
}

TEST(Text, LongLinesAreBroken) {
  CudaWriter w(2);
  w.line(
      "const float product = first_operand_of_the_product * second_operand_of_the_product + "
      "what_is_added_to_it;");
  for (size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = w.text().find('\n', at);
    if (end != std::string::npos) {
      EXPECT_LE(end - at, 100U);
    }
  }
}

TEST(Text, ConditionsAreSaidOnce) {
  EXPECT_EQ(all_of({"D % 4 == 0 && B > 0", "", "B > 0", "D % 4 == 0"}), "D % 4 == 0 && B > 0");
  EXPECT_EQ(all_of({"A == 1 || B == 2", "C"}), "(A == 1 || B == 2) && C");
  EXPECT_EQ(all_of({}), "");
}

TEST(Text, NamesClashWithNothing) {
  std::set<std::string> taken = {"x"};
  EXPECT_EQ(safe_name("y", taken), "y");
  EXPECT_EQ(safe_name("x", taken), "x_");
  EXPECT_EQ(safe_name("float", taken), "float_");
  EXPECT_EQ(safe_name("max", taken), "max_");
  EXPECT_EQ(safe_name("a.b", taken), "a_b");
  EXPECT_EQ(safe_name("y", taken), "y_");
}

TEST(Text, HelpersComeBeforeTheirUsers) {
  const std::string text = helper_functions({"reduce_block", "Larger"});
  EXPECT_LT(text.find("T reduce_lanes("), text.find("T reduce_block("));
  EXPECT_LT(text.find("T max_nan("), text.find("struct Larger"));
  EXPECT_EQ(text.find("load_pack"), std::string::npos);
}

}  // namespace
}  // namespace kw::generate
