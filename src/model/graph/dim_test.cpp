#include "graph/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace kw::graph {

struct DimCase {
  const char* name;
  Dim got;
  int64_t value;
  const char* text;
};

std::vector<DimCase> dim_cases() {
  const Dim b = Dim::symbol("B", 4), d = Dim::symbol("D", 10), n = Dim::symbol("N", 3);
  return {
      {"number", 1024, 1024, "1024"},
      {"negative", -3, -3, "-3"},
      {"symbol", d, 10, "D"},
      {"sum", d + 1, 11, "D + 1"},
      {"difference", d - 1, 9, "D - 1"},
      {"constant_first", Dim(3) - d, -7, "3 - D"},
      {"all_negative", Dim(0) - d - b, -14, "-B - D"},
      {"cancel", d + b - d, 4, "B"},
      {"nothing", d - d, 0, "0"},
      {"scaled", d * 2 + 1, 21, "2 * D + 1"},
      {"product", d * b, 40, "B * D"},
      {"power", d * d, 100, "D * D"},
      {"distribute", (d + 1) * (d - 1), 99, "D * D - 1"},
      {"even", floor_div(d * 4, 2), 20, "2 * D"},
      {"even_by_symbol", floor_div(d * b, b), 10, "D"},
      {"even_by_sum", floor_div((d + 1) * (b + 2), d + 1), 6, "B + 2"},
      {"uneven", floor_div(d, 3), 3, "(D / 3)"},
      {"uneven_sum", floor_div(d + 2, 3), 4, "((D + 2) / 3)"},
      {"multiple_comes_out", floor_div(d * 3 + b, 3), 11, "(B / 3) + D"},
      {"constant_comes_out", floor_div(d + 7, 3), 5, "((D + 1) / 3) + 2"},
      {"below_zero_comes_out", floor_div(d - 1, 3), 3, "((D + 2) / 3) - 1"},
      {"common_factor", floor_div(d * 2, 6), 3, "(D / 3)"},
      {"common_symbol", floor_div(d * b, b * 3), 3, "(D / 3)"},
      {"common_symbol_of_a_sum", floor_div(d * b + b, b * 2), 5, "((D + 1) / 2)"},
      {"constant_below_factor", floor_div(d * 2 + 1, 4), 5, "(D / 2)"},
      {"ceil_idiom", Dim(0) - floor_div(Dim(0) - d, 3), 4, "((D + 2) / 3)"},
      {"negative_numbers", floor_div(Dim(-7), 2), -4, "-4"},
      {"negative_divisor", floor_div(Dim(7), -2), -4, "-4"},
      {"by_symbol", floor_div(d, b), 2, "(D / B)"},
      {"nested", floor_div(floor_div(d, 3) + 1, 2), 2, "(((D / 3) + 1) / 2)"},
      {"quotient_times", floor_div(d, 3) * 3, 9, "3 * (D / 3)"},
      {"rest", remainder(d, 3), 1, "(D % 3)"},
      {"no_rest", remainder(d * 6, 3), 0, "0"},
      {"rest_drops_multiples", remainder(d + 30, 3), 1, "(D % 3)"},
      {"rest_of_negative", remainder(Dim(0) - d, 3), 2, "((2 * D) % 3)"},
      {"rest_numbers", remainder(Dim(-7), 3), 2, "2"},
      {"rest_negative_divisor", remainder(Dim(7), -3), -2, "-2"},
      {"rest_by_symbol", remainder(d, b), 2, "(D % B)"},
      {"min_numbers", min(Dim(3), 5), 3, "3"},
      {"min_known", min(d, d - 1), 9, "D - 1"},
      {"min_symbols", min(d, b), 4, "min(B, D)"},
      {"max_sorted", max(b, d), 10, "max(B, D)"},
      {"max_number", max(d, 3), 10, "max(3, D)"},
      {"saturates", Dim(std::numeric_limits<int64_t>::max()) + 1,
       std::numeric_limits<int64_t>::max(), "9223372036854775807"},
      {"product_saturates", Dim(int64_t{1} << 40) * Dim(-(int64_t{1} << 40)),
       std::numeric_limits<int64_t>::min(), "-9223372036854775808"},
      {"three", d * b * n + n * 2 - 5, 121, "B * D * N + 2 * N - 5"},
  };
}

class DimTable : public testing::TestWithParam<DimCase> {};

TEST_P(DimTable, HaveAValueAndATextThatAgree) {
  EXPECT_EQ(GetParam().got.value(), GetParam().value);
  EXPECT_EQ(GetParam().got.text(), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Table, DimTable, testing::ValuesIn(dim_cases()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Dim, ComparesValuesOrTexts) {
  const Dim b = Dim::symbol("B", 10), d = Dim::symbol("D", 10);
  EXPECT_TRUE(b == d);
  EXPECT_FALSE(b.same_text(d));
  EXPECT_TRUE((b * 2 + d).same_text(d + b + b));
  EXPECT_TRUE(Dim(10) == d);
  EXPECT_FALSE(d.is_constant());
  EXPECT_TRUE((d - d + 3).is_constant());
}

TEST(Dim, SaysWhatEqualityMeans) {
  const Dim b = Dim::symbol("B", 4), d = Dim::symbol("D", 12), e = Dim::symbol("E", 12);
  EXPECT_EQ(equal_text(d, d), "");
  EXPECT_EQ(equal_text(e, d), "D == E");
  EXPECT_EQ(equal_text(12, d), "D == 12");
  EXPECT_EQ(equal_text(b * d * 2, b * e * 2), "D == E");
  EXPECT_EQ(equal_text(floor_div(d, 3) * 3, d), "D % 3 == 0");
  EXPECT_EQ(equal_text(d * b * 5, floor_div(d, 3) * b * 15), "D % 3 == 0");
  EXPECT_EQ(equal_text(d + 2, e * 2), "2 * E == D + 2");
  EXPECT_EQ(equal_text(d - d, b - 4), "B - 4 == 0");
}

TEST(Shape, HasValuesCountAndText) {
  const Shape shape = {Dim::symbol("B", 4), 2 * Dim::symbol("D", 10)};
  EXPECT_EQ(values_of(shape), (std::vector<int64_t>{4, 20}));
  EXPECT_EQ(count_of(shape).text(), "2 * B * D");
  EXPECT_EQ(count_of({}).value(), 1);
  EXPECT_EQ(shape_text(shape), "[B, 2 * D]");
  EXPECT_EQ(shape_text({}), "[]");
}

}  // namespace kw::graph
