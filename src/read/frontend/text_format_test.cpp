#include "frontend/text_format.h"

#include <gtest/gtest.h>

namespace kw::frontend {
namespace {

using graph::Dim;

struct SpecCase {
  const char* name;
  Value value;
  const char* spec;
  const char* want;
};

class Formatted : public testing::TestWithParam<SpecCase> {};

TEST_P(Formatted, IsPythons) {
  const auto text = formatted(GetParam().value, GetParam().spec);
  EXPECT_EQ(text ? *text : text.error().message, GetParam().want);
}

const SpecCase kSpecs[] = {
    {"plain", Dim(3), "", "3"},
    {"whole_float", 2.0, "", "2.0"},
    {"zeros", Dim(3), "02d", "03"},
    {"zeros_negative", Dim(-3), "04", "-003"},
    {"width", Dim(3), "4", "   3"},
    {"centred", "ab", "*^5", "*ab**"},
    {"word", "ab", "4", "ab  "},
    {"right", "ab", ">4", "  ab"},
    {"cut", "abc", ".2", "ab"},
    {"fixed", 3.14159, ".2f", "3.14"},
    {"exponent", 12345.0, ".1e", "1.2e+04"},
    {"grouped", Dim(1234567), ",", "1,234,567"},
    {"sign", Dim(5), "+d", "+5"},
    {"hex", Dim(255), "x", "ff"},
    {"share", 0.25, ".0%", "25%"},
    {"none", None{}, "", "None"},
    {"unknown", Dim(5), "_", "the format '_' is not supported"},
    {"wrong", 2.5, "d", "unknown format code 'd' for a float"},
};

INSTANTIATE_TEST_SUITE_P(Specs, Formatted, testing::ValuesIn(kSpecs),
                         [](const auto& row) { return std::string(row.param.name); });

struct BraceCase {
  const char* name;
  const char* text;
  const char* want;
};

class Braces : public testing::TestWithParam<BraceCase> {};

TEST_P(Braces, TakePlacesAndNames) {
  const auto text = brace_format(GetParam().text, {Dim(3), "x"}, {{"width", Dim(7)}});
  EXPECT_EQ(text ? *text : text.error().message, GetParam().want);
}

const BraceCase kBraces[] = {
    {"in_order", "layer{}.{}", "layer3.x"},
    {"by_place", "{1}{0:02d}", "x03"},
    {"by_name", "w{width}", "w7"},
    {"doubled", "{{{}}}", "{3}"},
    {"missing", "{4}", "format(): there is no value for '{4}'"},
    {"single", "a}", "a single brace in a format string"},
};

INSTANTIATE_TEST_SUITE_P(Texts, Braces, testing::ValuesIn(kBraces),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::frontend
