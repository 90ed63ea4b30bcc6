#include "kernel/number_expr.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw::kernel {
namespace {

double value_of(const std::string& text) {
  Scope scope;
  scope.values = {{"D", 64}, {"V", 1000}, {"step", 10}};
  const auto expr = parse_number(text);
  if (!expr) return NAN;
  const Result<double> value = evaluate(*expr, scope, {{"lr", 1e-3}, {"beta", 0.9}});
  return value ? *value : NAN;
}

TEST(NumberExpr, ComputesAsPythonDoes) {
  EXPECT_EQ(value_of("pow(D, -0.5)"), std::pow(64.0, -0.5));
  EXPECT_EQ(value_of("0.1 / int(V - 1)"), 0.1 / 999.0);
  EXPECT_EQ(value_of("log(V)"), std::log(1000.0));
  EXPECT_EQ(value_of("lr / (1 - pow(beta, step))"), 1e-3 / (1 - std::pow(0.9, 10.0)));
  EXPECT_EQ(value_of("-(2.5e-3) * 2"), -5e-3);
  EXPECT_EQ(value_of("D / 3"), 64.0 / 3.0) << "not a quotient of integers";
  EXPECT_EQ(value_of("int(D / 3)"), 21.0);
  EXPECT_EQ(value_of("1 - 2 - 3"), -4.0);
  EXPECT_EQ(value_of("fp16(0.1)"), 0.0999755859375);
}

TEST(NumberExpr, RefusesWhatItCannotRead) {
  for (const char* text : {"", "1 +", "rsqrt(D)", "sqrt(D", "pow(D)", "D ** 2", "1.2.3", "int()"})
    EXPECT_FALSE(parse_number(text)) << text;
  EXPECT_TRUE(std::isnan(value_of("M + 1"))) << "an unknown name has no value";
}

TEST(NumberExpr, IntegersScaleAsPythonDoes) {
  Scope scope;
  scope.values = {{"V", 100}};
  for (const auto& [text, want] : std::vector<std::pair<std::string, int64_t>>{
           {"int(scaled(V, 0.29))", static_cast<int64_t>(100 * 0.29)},
           {"int(scaled(V, 0.3))", static_cast<int64_t>(100 * 0.3)}}) {
    const auto expr = parse_number(text);
    ASSERT_TRUE(expr) << text;
    const Result<double> value = evaluate(*expr, scope, {});
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(*value, static_cast<double>(want)) << text;
  }
}

}  // namespace
}  // namespace kw::kernel
