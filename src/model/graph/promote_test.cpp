#include "graph/promote.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "graph/builder.h"

namespace kw::graph {

// The dtype of an operation on "fp16[2]" (a tensor), "fp32[]" (a tensor of rank 0) or a Python
// number, as PyTorch 2.13 gives it. "" when PyTorch raises.
struct Promotion {
  const char* op;
  const char* a;
  const char* b;
  const char* want;
};

constexpr Promotion kPromotions[] = {
    {"add", "fp64[2]", "fp64[2]", "fp64"},
    {"add", "fp64[2]", "fp32[2]", "fp64"},
    {"add", "fp64[2]", "fp16[2]", "fp64"},
    {"add", "fp64[2]", "bf16[2]", "fp64"},
    {"add", "fp64[2]", "int64[2]", "fp64"},
    {"add", "fp64[2]", "int32[2]", "fp64"},
    {"add", "fp64[2]", "int16[2]", "fp64"},
    {"add", "fp64[2]", "int8[2]", "fp64"},
    {"add", "fp64[2]", "uint8[2]", "fp64"},
    {"add", "fp64[2]", "bool[2]", "fp64"},
    {"add", "fp32[2]", "fp32[2]", "fp32"},
    {"add", "fp32[2]", "fp16[2]", "fp32"},
    {"add", "fp32[2]", "bf16[2]", "fp32"},
    {"add", "fp32[2]", "int64[2]", "fp32"},
    {"add", "fp32[2]", "int32[2]", "fp32"},
    {"add", "fp32[2]", "int16[2]", "fp32"},
    {"add", "fp32[2]", "int8[2]", "fp32"},
    {"add", "fp32[2]", "uint8[2]", "fp32"},
    {"add", "fp32[2]", "bool[2]", "fp32"},
    {"add", "fp16[2]", "fp16[2]", "fp16"},
    {"add", "fp16[2]", "bf16[2]", "fp32"},
    {"add", "fp16[2]", "int64[2]", "fp16"},
    {"add", "fp16[2]", "int32[2]", "fp16"},
    {"add", "fp16[2]", "int16[2]", "fp16"},
    {"add", "fp16[2]", "int8[2]", "fp16"},
    {"add", "fp16[2]", "uint8[2]", "fp16"},
    {"add", "fp16[2]", "bool[2]", "fp16"},
    {"add", "bf16[2]", "bf16[2]", "bf16"},
    {"add", "bf16[2]", "int64[2]", "bf16"},
    {"add", "bf16[2]", "int32[2]", "bf16"},
    {"add", "bf16[2]", "int16[2]", "bf16"},
    {"add", "bf16[2]", "int8[2]", "bf16"},
    {"add", "bf16[2]", "uint8[2]", "bf16"},
    {"add", "bf16[2]", "bool[2]", "bf16"},
    {"add", "int64[2]", "int64[2]", "int64"},
    {"add", "int64[2]", "int32[2]", "int64"},
    {"add", "int64[2]", "int16[2]", "int64"},
    {"add", "int64[2]", "int8[2]", "int64"},
    {"add", "int64[2]", "uint8[2]", "int64"},
    {"add", "int64[2]", "bool[2]", "int64"},
    {"add", "int32[2]", "int32[2]", "int32"},
    {"add", "int32[2]", "int16[2]", "int32"},
    {"add", "int32[2]", "int8[2]", "int32"},
    {"add", "int32[2]", "uint8[2]", "int32"},
    {"add", "int32[2]", "bool[2]", "int32"},
    {"add", "int16[2]", "int16[2]", "int16"},
    {"add", "int16[2]", "int8[2]", "int16"},
    {"add", "int16[2]", "uint8[2]", "int16"},
    {"add", "int16[2]", "bool[2]", "int16"},
    {"add", "int8[2]", "int8[2]", "int8"},
    {"add", "int8[2]", "uint8[2]", "int16"},
    {"add", "int8[2]", "bool[2]", "int8"},
    {"add", "uint8[2]", "uint8[2]", "uint8"},
    {"add", "uint8[2]", "bool[2]", "uint8"},
    {"add", "bool[2]", "bool[2]", "bool"},
    {"mul", "fp64[2]", "1", "fp64"},
    {"mul", "fp64[2]", "1.5", "fp64"},
    {"mul", "fp64[2]", "True", "fp64"},
    {"mul", "fp32[2]", "1", "fp32"},
    {"mul", "fp32[2]", "1.5", "fp32"},
    {"mul", "fp32[2]", "True", "fp32"},
    {"mul", "fp16[2]", "1", "fp16"},
    {"mul", "fp16[2]", "1.5", "fp16"},
    {"mul", "fp16[2]", "True", "fp16"},
    {"mul", "bf16[2]", "1", "bf16"},
    {"mul", "bf16[2]", "1.5", "bf16"},
    {"mul", "bf16[2]", "True", "bf16"},
    {"mul", "int64[2]", "1", "int64"},
    {"mul", "int64[2]", "1.5", "fp32"},
    {"mul", "int64[2]", "True", "int64"},
    {"mul", "int32[2]", "1", "int32"},
    {"mul", "int32[2]", "1.5", "fp32"},
    {"mul", "int32[2]", "True", "int32"},
    {"mul", "int16[2]", "1", "int16"},
    {"mul", "int16[2]", "1.5", "fp32"},
    {"mul", "int16[2]", "True", "int16"},
    {"mul", "int8[2]", "1", "int8"},
    {"mul", "int8[2]", "1.5", "fp32"},
    {"mul", "int8[2]", "True", "int8"},
    {"mul", "uint8[2]", "1", "uint8"},
    {"mul", "uint8[2]", "1.5", "fp32"},
    {"mul", "uint8[2]", "True", "uint8"},
    {"mul", "bool[2]", "1", "int64"},
    {"mul", "bool[2]", "1.5", "fp32"},
    {"mul", "bool[2]", "True", "bool"},
    {"add", "fp16[2]", "fp32[]", "fp16"},
    {"mul", "fp16[]", "fp32[]", "fp32"},
    {"add", "fp32[2]", "fp64[]", "fp32"},
    {"mul", "fp32[]", "fp64[]", "fp64"},
    {"add", "int8[2]", "int64[]", "int8"},
    {"mul", "int8[]", "int64[]", "int64"},
    {"add", "int32[2]", "fp64[]", "fp64"},
    {"mul", "int32[]", "fp64[]", "fp64"},
    {"add", "bool[2]", "uint8[]", "uint8"},
    {"mul", "bool[]", "uint8[]", "uint8"},
    {"add", "bool[2]", "fp16[]", "fp16"},
    {"mul", "bool[]", "fp16[]", "fp16"},
    {"add", "bf16[2]", "fp16[]", "bf16"},
    {"mul", "bf16[]", "fp16[]", "fp32"},
    {"add", "uint8[2]", "int8[]", "uint8"},
    {"mul", "uint8[]", "int8[]", "int16"},
    {"add", "int64[2]", "fp16[]", "fp16"},
    {"mul", "int64[]", "fp16[]", "fp16"},
    {"add", "fp16[]", "1.5", "fp16"},
    {"add", "int32[]", "1.5", "fp32"},
    {"add", "bool[]", "1", "int64"},
    {"add", "bool[]", "True", "bool"},
    {"add", "int8[]", "300", "int8"},
    {"add", "fp64[]", "2", "fp64"},
    {"div", "int64[2]", "int64[2]", "fp32"},
    {"pow", "int64[2]", "int64[2]", "int64"},
    {"floor_div", "int64[2]", "int64[2]", "int64"},
    {"remainder", "int64[2]", "int64[2]", "int64"},
    {"fmod", "int64[2]", "int64[2]", "int64"},
    {"atan2", "int64[2]", "int64[2]", "fp32"},
    {"copysign", "int64[2]", "int64[2]", "fp32"},
    {"hypot", "int64[2]", "int64[2]", ""},
    {"maximum", "int64[2]", "int64[2]", "int64"},
    {"fmin", "int64[2]", "int64[2]", "int64"},
    {"lt", "int64[2]", "int64[2]", "bool"},
    {"eq", "int64[2]", "int64[2]", "bool"},
    {"and", "int64[2]", "int64[2]", "int64"},
    {"xor", "int64[2]", "int64[2]", "int64"},
    {"shift_left", "int64[2]", "int64[2]", "int64"},
    {"sub", "int64[2]", "int64[2]", "int64"},
    {"div", "bool[2]", "bool[2]", "fp32"},
    {"pow", "bool[2]", "bool[2]", ""},
    {"floor_div", "bool[2]", "bool[2]", ""},
    {"remainder", "bool[2]", "bool[2]", ""},
    {"fmod", "bool[2]", "bool[2]", ""},
    {"atan2", "bool[2]", "bool[2]", "fp32"},
    {"copysign", "bool[2]", "bool[2]", "fp32"},
    {"hypot", "bool[2]", "bool[2]", ""},
    {"maximum", "bool[2]", "bool[2]", "bool"},
    {"fmin", "bool[2]", "bool[2]", "bool"},
    {"lt", "bool[2]", "bool[2]", "bool"},
    {"eq", "bool[2]", "bool[2]", "bool"},
    {"and", "bool[2]", "bool[2]", "bool"},
    {"xor", "bool[2]", "bool[2]", "bool"},
    {"shift_left", "bool[2]", "bool[2]", ""},
    {"sub", "bool[2]", "bool[2]", ""},
    {"div", "int32[2]", "2", "fp32"},
    {"pow", "int32[2]", "2", "int32"},
    {"floor_div", "int32[2]", "2", "int32"},
    {"remainder", "int32[2]", "2", "int32"},
    {"lt", "int32[2]", "2", "bool"},
    {"eq", "int32[2]", "2", "bool"},
    {"and", "int32[2]", "2", "int32"},
    {"xor", "int32[2]", "2", "int32"},
    {"shift_left", "int32[2]", "2", "int32"},
    {"sub", "int32[2]", "2", "int32"},
    {"div", "fp16[2]", "int64[2]", "fp16"},
    {"pow", "fp16[2]", "int64[2]", "fp16"},
    {"floor_div", "fp16[2]", "int64[2]", "fp16"},
    {"remainder", "fp16[2]", "int64[2]", "fp16"},
    {"fmod", "fp16[2]", "int64[2]", "fp16"},
    {"atan2", "fp16[2]", "int64[2]", "fp16"},
    {"copysign", "fp16[2]", "int64[2]", "fp16"},
    {"hypot", "fp16[2]", "int64[2]", "fp16"},
    {"maximum", "fp16[2]", "int64[2]", "fp16"},
    {"fmin", "fp16[2]", "int64[2]", "fp16"},
    {"lt", "fp16[2]", "int64[2]", "bool"},
    {"eq", "fp16[2]", "int64[2]", "bool"},
    {"and", "fp16[2]", "int64[2]", ""},
    {"xor", "fp16[2]", "int64[2]", ""},
    {"shift_left", "fp16[2]", "int64[2]", ""},
    {"sub", "fp16[2]", "int64[2]", "fp16"},
    {"div", "uint8[2]", "2.5", "fp32"},
    {"pow", "uint8[2]", "2.5", "fp32"},
    {"floor_div", "uint8[2]", "2.5", "fp32"},
    {"remainder", "uint8[2]", "2.5", "fp32"},
    {"lt", "uint8[2]", "2.5", "bool"},
    {"eq", "uint8[2]", "2.5", "bool"},
    {"and", "uint8[2]", "2.5", ""},
    {"xor", "uint8[2]", "2.5", ""},
    {"shift_left", "uint8[2]", "2.5", ""},
    {"sub", "uint8[2]", "2.5", "fp32"},
    {"where", "fp16[2]", "1.5", "fp16"},
    {"where", "fp16[2]", "fp32[2]", "fp32"},
    {"where", "int32[2]", "1.5", "fp32"},
    {"where", "int32[2]", "int64[]", "int32"},
    {"where", "bool[2]", "1", "int64"},
    {"where", "1.5", "fp16[2]", "fp16"},
    {"where", "fp16[]", "fp32[2]", "fp32"},
    {"where", "uint8[2]", "int8[2]", "int16"},
    {"sub", "1", "bool[2]", ""},
    {"sub", "1.5", "bool[2]", ""},
    {"sub", "2", "int32[2]", "int32"},
    {"sub", "2.5", "int32[2]", "fp32"},
    {"sub", "fp32[2]", "bool[2]", ""},
    {"sub", "fp32[2]", "True", ""},
    {"pow", "2", "int32[2]", "int32"},
    {"pow", "2.5", "int64[2]", "fp32"},
    {"pow", "int64[2]", "-1", ""},
    {"pow", "fp32[2]", "-1", "fp32"},
    {"pow", "int64[2]", "-1.0", "fp32"},
    {"add", "uint16[2]", "int32[2]", ""},
    {"add", "uint16[2]", "fp16[2]", "fp16"},
    {"add", "fp8e4m3[2]", "fp32[2]", ""},
    {"add", "fp8e4m3[2]", "1.5", ""},
    {"add", "fp8e4m3[2]", "fp8e4m3[2]", ""},
};

Operand operand(Builder& b, const std::string& text) {
  const size_t bracket = text.find('[');
  if (bracket != std::string::npos) {
    const Shape shape = text.find("[]") == std::string::npos ? Shape{2} : Shape{};
    return Operand::tensor(b.input("x", *tensor::dtype_from_name(text.substr(0, bracket)), shape));
  }
  if (text == "True") return Operand::of_bool(true);
  if (const auto whole = parse_int(text)) return Operand::of(*whole);
  return Operand::of(*parse_double(text));
}

class Promotes : public testing::TestWithParam<Promotion> {};

TEST_P(Promotes, AsPyTorchDoes) {
  const Promotion& row = GetParam();
  Builder b;
  const Operand x = operand(b, row.a), y = operand(b, row.b);
  const std::string op = row.op;
  Result<NodeId> result = input_error("");
  if (op == "where") {
    const NodeId condition = b.expand(b.constant_int(DType::Bool, 1), {2}).value();
    result = b.where(condition, x, y);
  } else {
    result = b.binary(*op_from_name(op), x, y);
  }
  const std::string got = result ? tensor::dtype_name(b.dtype(*result)) : "";
  EXPECT_EQ(got, row.want) << row.a << " " << op << " " << row.b
                           << (result ? "" : ": " + result.error().message);
}

INSTANTIATE_TEST_SUITE_P(Table, Promotes, testing::ValuesIn(kPromotions));

TEST(Promote, KnowsTheTypeKernelsComputeIn) {
  EXPECT_EQ(opmath(DType::Fp16), DType::Fp32);
  EXPECT_EQ(opmath(DType::Bf16), DType::Fp32);
  EXPECT_EQ(opmath(DType::Fp8e5m2), DType::Fp32);
  EXPECT_EQ(opmath(DType::Fp64), DType::Fp64);
  EXPECT_EQ(opmath(DType::Int32), DType::Int32);
  EXPECT_EQ(float_type(DType::Bool), DType::Fp32);
  EXPECT_EQ(float_type(DType::Bf16), DType::Bf16);
}

TEST(Promote, RoundsANumberAsTheKernelGetsIt) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp16, {2});
  const auto number = [&](Op op, double value) {
    const NodeId id = b.binary(op, Operand::tensor(x), Operand::of(value)).value();
    NodeId constant = b[id].inputs[1];
    while (b[constant].op != Op::Constant) constant = b[constant].inputs[0];
    return b[constant].attrs.number;
  };
  EXPECT_EQ(number(Op::Mul, 0.1), static_cast<double>(0.1F));  // opmath
  EXPECT_EQ(number(Op::Gt, 0.1), 0.0999755859375);             // the dtype of the tensor
  EXPECT_EQ(number(Op::Add, 1e6), 1e6);
}

TEST(Promote, KeepsTheLowBitsOfLargeIntegers) {
  Builder b;
  EXPECT_EQ(b[b.constant_int(DType::Uint8, 300)].attrs.integer, 44);
  EXPECT_EQ(b[b.constant_int(DType::Int8, 200)].attrs.integer, -56);
  EXPECT_EQ(b[b.constant_int(DType::Bool, 7)].attrs.integer, 1);
  EXPECT_EQ(b[b.constant_int(DType::Int64, -1)].attrs.integer, -1);
  EXPECT_EQ(b[b.constant(DType::Int32, 2.9)].attrs.integer, 2);
}

struct Unary {
  Op op;
  DType in;
  const char* want;  // "": refused
};
class UnaryTypes : public testing::TestWithParam<Unary> {};

TEST_P(UnaryTypes, AsPyTorchDoes) {
  Builder b;
  const auto result = b.unary(GetParam().op, b.input("x", GetParam().in, {2}));
  EXPECT_EQ(result ? tensor::dtype_name(b.dtype(*result)) : "", std::string(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, UnaryTypes,
    testing::Values(Unary{Op::Exp, DType::Int32, "fp32"}, Unary{Op::Exp, DType::Fp16, "fp16"},
                    Unary{Op::Exp, DType::Bool, "fp32"}, Unary{Op::Exp, DType::Fp64, "fp64"},
                    Unary{Op::Exp, DType::Fp8e4m3, ""}, Unary{Op::Neg, DType::Bool, ""},
                    Unary{Op::Neg, DType::Uint8, "uint8"}, Unary{Op::Abs, DType::Bool, ""},
                    Unary{Op::Abs, DType::Int64, "int64"}, Unary{Op::Sign, DType::Bool, "bool"},
                    Unary{Op::Floor, DType::Int16, "int16"}, Unary{Op::Floor, DType::Bool, ""},
                    Unary{Op::Round, DType::Bf16, "bf16"}, Unary{Op::Not, DType::Fp32, ""},
                    Unary{Op::Not, DType::Int32, "int32"}, Unary{Op::Not, DType::Bool, "bool"},
                    Unary{Op::IsNan, DType::Fp16, "bool"}, Unary{Op::IsNan, DType::Int32, "bool"},
                    Unary{Op::Reciprocal, DType::Int64, "fp32"},
                    Unary{Op::Sigmoid, DType::Uint8, "fp32"}));

struct Reduced {
  Op op;
  DType in;
  const char* want;
};
class ReducedTypes : public testing::TestWithParam<Reduced> {};

TEST_P(ReducedTypes, AsPyTorchDoes) {
  Builder b;
  const auto result = b.reduce(GetParam().op, b.input("x", GetParam().in, {2, 3}), {1}, false);
  EXPECT_EQ(result ? tensor::dtype_name(b.dtype(*result)) : "", std::string(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReducedTypes,
    testing::Values(Reduced{Op::Sum, DType::Int8, "int64"}, Reduced{Op::Sum, DType::Bool, "int64"},
                    Reduced{Op::Sum, DType::Fp16, "fp16"}, Reduced{Op::Prod, DType::Uint8, "int64"},
                    Reduced{Op::Max, DType::Bool, "bool"}, Reduced{Op::Max, DType::Int16, "int16"},
                    Reduced{Op::ArgMax, DType::Bf16, "int64"},
                    Reduced{Op::Sum, DType::Fp8e4m3, ""}));

}  // namespace kw::graph
