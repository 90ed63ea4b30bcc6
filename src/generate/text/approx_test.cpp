// Tests which patterns are recognised and which are not changed. tests/approx proves the accuracy
// of the functions.
#include "text/approx.h"

#include <gtest/gtest.h>

#include "graph/term.h"

namespace kw::generate {
namespace {

using graph::apply;
using graph::Term;

struct Case {
  const char* name;
  DType dtype;
  Term (*formula)(const Term& x);
  const char* want;  // function of the last node; "": none
};

Term softplus(const Term& x, double threshold) {
  return graph::where(apply(Op::Gt, x, threshold), x, apply(Op::Log1p, apply(Op::Exp, x)));
}

const Case kCases[] = {
    {"Exp", DType::Fp32, [](const Term& x) { return apply(Op::Exp, x); }, "fast_exp({0})"},
    {"ExpOfDoubles", DType::Fp64, [](const Term& x) { return apply(Op::Exp, x); }, ""},
    {"Sigmoid", DType::Fp32, [](const Term& x) { return apply(Op::Sigmoid, x); },
     "fast_sigmoid({0})"},
    {"HalfSigmoid", DType::Fp16, [](const Term& x) { return apply(Op::Sigmoid, x); },
     "half_sigmoid({0})"},
    {"Expm1NeedsRange", DType::Fp32, [](const Term& x) { return apply(Op::Expm1, x); }, ""},
    {"HalfExpm1", DType::Fp16, [](const Term& x) { return apply(Op::Expm1, x); },
     "half_expm1({0})"},
    {"Mish", DType::Fp32, [](const Term& x) { return apply(Op::Tanh, softplus(x, 20)); },
     "tanh_softplus({0})"},
    {"Softplus", DType::Fp32, [](const Term& x) { return softplus(x, 20); }, "fast_softplus({0})"},
    {"EarlyThreshold", DType::Fp32, [](const Term& x) { return softplus(x, 2); }, ""},
    {"OtherBranch", DType::Fp32,
     [](const Term& x) {
       return graph::where(apply(Op::Gt, x, 20.0), x * 2, apply(Op::Log1p, apply(Op::Exp, x)));
     },
     ""},
    {"Gelu", DType::Fp32, [](const Term& x) { return x * 0.5 * (1 + apply(Op::Erf, x * 0.7)); },
     "{0} * half_one_plus_erf({1})"},
    {"HalvedErf", DType::Fp32, [](const Term& x) { return (apply(Op::Erf, x) + 1) * 0.5; },
     "half_one_plus_erf({0})"},
    {"TwoPlusErf", DType::Fp32, [](const Term& x) { return apply(Op::Erf, x) + 2; }, ""},
    {"SiluByHand", DType::Fp32,
     [](const Term& x) { return x / (1 + apply(Op::Exp, apply(Op::Neg, x))); },
     "{0} * one_over_one_plus_exp({1})"},
    {"ByAConstant", DType::Fp32, [](const Term& x) { return x / 8.0; }, "{0} * 0.125f"},
    {"ByAValue", DType::Fp32, [](const Term& x) { return Term(1.5) / x; }, "fast_divide({0}, {1})"},
    {"ByZero", DType::Fp32, [](const Term& x) { return x / 0.0; }, ""},
    {"Plain", DType::Fp32, [](const Term& x) { return x + x; }, ""},
};

class Shortcuts : public testing::TestWithParam<Case> {};

TEST_P(Shortcuts, AreFound) {
  graph::Builder builder;
  const NodeId x = builder.input("x", GetParam().dtype, {graph::Dim::symbol("N", 4)});
  graph::Formula formula(builder);
  const auto y = formula.done(GetParam().formula(formula(x)));
  ASSERT_TRUE(y) << y.error().message;
  const Graph graph = std::move(builder).finish({{"y", *y}});
  const auto found = find_shortcut(graph, *y);
  EXPECT_EQ(found ? found->expression : "", GetParam().want) << graph::print(graph);
}

INSTANTIATE_TEST_SUITE_P(All, Shortcuts, testing::ValuesIn(kCases),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(DeviceFunctions, BringWhatTheyNeedAndNothingElse) {
  const std::string text = device_functions({"tanh_softplus"});
  const size_t needed = text.find("float exp2_approx("), own = text.find("float tanh_softplus(");
  ASSERT_NE(needed, std::string::npos);
  ASSERT_NE(own, std::string::npos);
  EXPECT_LT(needed, own);
  EXPECT_EQ(text.find("fast_tanh"), std::string::npos);
  EXPECT_EQ(device_functions({}), "");
}

}  // namespace
}  // namespace kw::generate
