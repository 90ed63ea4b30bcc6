#include "emit/index.h"

#include <gtest/gtest.h>

#include "emit/domain.h"
#include "task/task.h"

namespace kw::generate {
namespace {

Dim dim(const char* name, int64_t value) { return Dim::symbol(name, value); }

std::string texts(const Index& index) {
  std::string out;
  for (const Dim& one : index) out += (out.empty() ? "" : ", ") + one.text();
  return out;
}

const Dim kB = dim("B", 4), kS = dim("S", 6), kD = dim("D", 8);

struct ReshapeRow {
  const char* name;
  Shape from, to;
  const char* want;  // the index in `to` of element (i0, i1 …) of `from`
};

class Reshapes : public testing::TestWithParam<ReshapeRow> {};

TEST_P(Reshapes, GiveTheShortestIndex) {
  const Domain domain = make_domain(GetParam().from, "i");
  EXPECT_EQ(texts(reshaped(domain.shape, domain.index, GetParam().to, ranges_of(domain))),
            GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Index, Reshapes,
    testing::Values(ReshapeRow{"Same", {kB, kD}, {kB, kD}, "i0, i1"},
                    ReshapeRow{"Joins", {kB, kS, kD}, {kB * kS, kD}, "S * i0 + i1, i2"},
                    ReshapeRow{"Splits", {kB * kS, kD}, {kB, kS, kD}, "(i0 / S), (i0 % S), i1"},
                    ReshapeRow{"AddsOnes", {kB, kD}, {kB, 1, kD, 1}, "i0, 0, i1, 0"},
                    ReshapeRow{"DropsOnes", {1, kB, 1}, {kB}, "i1"},
                    ReshapeRow{"Regroups",
                               {kB, 6, 4},
                               {kB, 3, 8},
                               "i0, ((4 * i1 + i2) / 8), ((4 * i1 + i2) % 8)"},
                    ReshapeRow{"Halves", {kB, 2 * kD}, {kB, 2, kD}, "i0, (i1 / D), (i1 % D)"},
                    ReshapeRow{"OfNothing", {}, {1, 1}, "0, 0"}),
    [](const auto& row) { return std::string(row.param.name); });

// Every element of one shape maps to exactly the element of the other with the same position.
TEST(Index, ReshapesKeepPositions) {
  const std::vector<std::pair<Shape, Shape>> pairs = {{{2, 3, 4}, {6, 4}},
                                                      {{6, 4}, {2, 3, 4}},
                                                      {{4, 6}, {8, 3}},
                                                      {{2, 12}, {4, 1, 6}},
                                                      {{24}, {2, 3, 4}}};
  for (const auto& [from, to] : pairs) {
    const Domain domain = make_domain(from, "i");
    const Index index = reshaped(from, domain.index, to, ranges_of(domain));
    for (int64_t at = 0; at < graph::count_of(from).value(); ++at) {
      std::map<std::string, Dim> values;
      int64_t left = at;
      for (size_t d = from.size(); d-- > 0; left /= from[d].value()) {
        values.insert_or_assign("i" + std::to_string(d), Dim(left % from[d].value()));
      }
      task::TensorSpec spec;
      spec.shape = {substitute(linear(to, index), values).text()};
      const auto position = task::Task{}.shape_of(spec, {});
      ASSERT_TRUE(position) << position.error().message;
      EXPECT_EQ((*position)[0], at) << shape_text(from) << " to " << shape_text(to);
    }
  }
}

TEST(Index, ExtentsThatHappenToBeOneStayApart) {
  const Dim channels = Dim::symbol("C", 1), size = Dim::symbol("H", 6);
  const Ranges ranges = {{"n", kB}, {"c", channels}, {"h", size}, {"w", kD}};
  const Index index = {variable("n"), variable("c"), variable("h") * kD + variable("w")};
  const Index apart = reshaped({kB, channels, size * kD}, index, {kB, channels, size, kD}, ranges);
  ASSERT_EQ(apart.size(), 4U);
  EXPECT_EQ(apart[1].text(), "c");
  EXPECT_EQ(apart[2].text(), "h");
  EXPECT_EQ(apart[3].text(), "w");
}

TEST(Index, QuotientsUseWhatIsKnown) {
  const Ranges ranges = {{"i", kB}, {"j", kD}};
  const Dim i = variable("i"), j = variable("j");
  EXPECT_EQ(quotient(i * kD + j, kD, ranges).text(), "i");
  EXPECT_EQ(rest(i * kD + j, kD, ranges).text(), "j");
  EXPECT_EQ(quotient(j, kD, ranges).text(), "0");
  EXPECT_EQ(quotient(i * kD + j, kB * kD, ranges).text(), "0");
  EXPECT_EQ(quotient(j, Dim(3), ranges).text(), "(j / 3)");
  EXPECT_EQ(rest(j + Dim(6), Dim(3), ranges).text(), "(j % 3)");
  EXPECT_EQ(quotient(j, Dim(1), ranges).text(), "j");
}

TEST(Index, SubstitutesInsideQuotients) {
  const Dim text = Dim::symbol("(i / D)", 0) * kD + variable("i");
  EXPECT_EQ(substitute(text, {{"i", variable("j") + Dim(1)}}).text(), "((j + 1) / D) * D + j + 1");
  EXPECT_TRUE(mentions(text, "i"));
  EXPECT_FALSE(mentions(text, "j"));
  EXPECT_FALSE(coefficient(text, "i").has_value());
}

TEST(Domain, JoinsWhatEveryAccessSeesAsOne) {
  const Domain domain = make_domain({kB, kS, kD}, "i");
  const Dim whole = linear(domain.shape, domain.index);
  const Joined flat = joined(domain, {whole}, {"i"});
  ASSERT_EQ(flat.axes.size(), 1U);
  EXPECT_EQ(flat.axes[0].extent.text(), "B * D * S");
  const Joined biased = joined(domain, {whole, domain.index[2]}, {"column", "row"});
  ASSERT_EQ(biased.axes.size(), 2U);
  EXPECT_EQ(biased.axes[0].extent.text(), "B * S");
  EXPECT_EQ(substitute(whole, biased.rename).text(), "D * row + column");
}

}  // namespace
}  // namespace kw::generate
