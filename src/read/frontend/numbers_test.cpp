#include "frontend/numbers.h"

#include <gtest/gtest.h>

namespace kw::frontend {
namespace {

using graph::Dim;

struct MathCase {
  const char* name;
  const char* op;
  Value a, b;
  const char* want;  // the result as text, or the error
};

std::string shown(const Result<Value>& result) {
  if (!result) return result.error().message;
  const auto* dim = result->get<Dim>();
  return dim && !dim->is_constant() ? dim->text() : to_text(*result);
}

class Arithmetic : public testing::TestWithParam<MathCase> {};

TEST_P(Arithmetic, IsPythons) {
  graph::Builder graph;
  const MathCase& one = GetParam();
  EXPECT_EQ(shown(arithmetic(graph, one.op, one.a, one.b)), one.want);
}

const Dim kB = Dim::symbol("B", 6);
const char* const kTooLarge = "an integer of the reference does not fit 64 bits";

const MathCase kCases[] = {
    {"add", "Add", Dim(2), Dim(3), "5"},
    {"symbol", "Mult", kB, Dim(2), "2 * B"},
    {"floor_negative", "FloorDiv", Dim(-7), Dim(2), "-4"},
    {"floor_by_negative", "FloorDiv", Dim(7), Dim(-2), "-4"},
    {"mod_negative", "Mod", Dim(-7), Dim(3), "2"},
    {"mod_by_negative", "Mod", Dim(7), Dim(-3), "-2"},
    {"true_division", "Div", Dim(7), Dim(2), "3.5"},
    {"power", "Pow", Dim(3), Dim(4), "81"},
    {"symbol_power", "Pow", kB, Dim(2), "B * B"},
    {"negative_power", "Pow", Dim(2), Dim(-1), "0.5"},
    {"power_of_one", "Pow", Dim(1), Dim(INT64_MAX), "1"},
    {"power_of_minus_one", "Pow", Dim(-1), Dim(INT64_MAX), "-1"},
    {"shift", "LShift", Dim(3), Dim(4), "48"},
    {"bits", "BitXor", Dim(6), Dim(3), "5"},
    {"bools", "BitAnd", true, false, "False"},
    {"bool_sum", "Add", true, true, "2"},
    {"floats", "FloorDiv", -7.5, 2.0, "-4"},
    {"float_mod", "Mod", -7.5, 2.0, "0.5"},
    {"texts", "Add", "ab", "c", "abc"},
    {"repeat", "Mult", "ab", Dim(2), "abab"},
    {"percent", "Mod", "layer%d", Dim(3), "layer3"},
    {"percent_several", "Mod", "%02d_%s 5%%", make_tuple({Dim(3), "x"}), "03_x 5%"},
    {"percent_too_few", "Mod", "%d%d", Dim(3), "not enough arguments for format string"},
    {"percent_too_many", "Mod", "%d", make_tuple({Dim(3), Dim(4)}),
     "not all arguments converted during string formatting"},
    {"lists", "Add", make_list({Dim(1)}), make_list({Dim(2)}), "[1, 2]"},
    {"tuple_repeat", "Mult", Dim(2), make_tuple({Dim(1)}), "(1, 1)"},
    {"zero", "FloorDiv", Dim(1), Dim(0), "integer division or modulo by zero"},
    {"float_zero", "Div", 1.0, 0.0, "float division by zero"},
    {"overflow_add", "Add", Dim(INT64_MAX), Dim(1), kTooLarge},
    {"overflow_mult", "Mult", Dim(INT64_MAX), Dim(2), kTooLarge},
    {"overflow_pow", "Pow", Dim(10), Dim(30), kTooLarge},
    {"overflow_shift", "LShift", Dim(1), Dim(80), kTooLarge},
    {"overflow_divide", "FloorDiv", Dim(INT64_MIN), Dim(-1), kTooLarge},
    {"negative_shift", "RShift", Dim(1), Dim(-1), "negative shift count"},
    {"root_of_negative", "Pow", -2.0, 0.5, "a negative number to a fractional power"},
    {"kinds", "Add", "a", Dim(1), "unsupported operand types for +: 'str' and 'int'"},
    {"none", "Sub", None{}, Dim(1), "unsupported operand types for -: 'NoneType' and 'int'"},
    {"list_and_tuple", "Add", make_list({}), make_tuple({}),
     "unsupported operand types for +: 'list' and 'tuple'"},
    {"long_list", "Mult", make_list({Dim(1)}), Dim(1000000000),
     "the list becomes longer than 200000 items"},
};
INSTANTIATE_TEST_SUITE_P(All, Arithmetic, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

std::vector<std::string> guards_of(graph::Builder graph) {
  return std::move(graph).finish({}).guards;
}

TEST(Comparisons, OfSymbolsLeaveGuards) {
  graph::Builder graph;
  EXPECT_TRUE(*compare(graph, "Lt", kB, Dim(10)));
  EXPECT_FALSE(*compare(graph, "Eq", remainder(kB, Dim(4)), Dim(0)));
  EXPECT_TRUE(*truth(graph, kB));
  EXPECT_EQ(guards_of(std::move(graph)),
            (std::vector<std::string>{"B < 10", "(B % 4) != 0", "B != 0"}));
}

TEST(Comparisons, OfWhatIsKnownLeaveNone) {
  graph::Builder graph;
  EXPECT_TRUE(*compare(graph, "Eq", kB, kB));
  EXPECT_TRUE(*compare(graph, "Gt", kB + 1, kB));
  EXPECT_TRUE(*compare(graph, "LtE", Dim(3), 3.5));
  EXPECT_TRUE(*compare(graph, "In", "a", make_tuple({"b", "a"})));
  EXPECT_TRUE(*compare(graph, "NotIn", Dim(1), make_list({})));
  EXPECT_TRUE(*compare(graph, "Is", None{}, None{}));
  EXPECT_TRUE(*compare(graph, "IsNot", None{}, Dim(0)));
  EXPECT_TRUE(*compare(graph, "Eq", make_tuple({Dim(1), "x"}), make_tuple({Dim(1), "x"})));
  EXPECT_FALSE(*compare(graph, "Eq", "1", Dim(1)));
  EXPECT_FALSE(compare(graph, "Lt", "1", Dim(1)));
  EXPECT_TRUE(guards_of(std::move(graph)).empty());
}

TEST(Comparisons, OfAListThatContainsItselfEnd) {
  auto list = std::make_shared<List>();
  list->items.emplace_back(list);
  graph::Builder graph;
  EXPECT_FALSE(*compare(graph, "Eq", list, make_list({make_list({})})));
  (void)to_text(list);
  list->items.clear();
}

std::string origin_text(const Result<Value>& result) {
  const auto* number = result ? result->get<Float>() : nullptr;
  return number && number->origin() ? number->origin()->text : "";
}

TEST(Origins, FloatsOfExtentsKeepHowTheyFollow) {
  graph::Builder graph;
  EXPECT_EQ(origin_text(arithmetic(graph, "Pow", kB, -0.5)), "pow(B, -0.5)");
  const Result<Value> share = arithmetic(graph, "Div", 0.1, Value(kB - Dim(1)));
  EXPECT_EQ(origin_text(share), "0.1 / int(B - 1)");
  EXPECT_EQ(origin_text(arithmetic(graph, "Sub", Dim(1), *share)), "1 - (0.1 / int(B - 1))");
  EXPECT_EQ(origin_text(negate("USub", *share)), "-(0.1 / int(B - 1))");
  EXPECT_EQ(origin_text(arithmetic(graph, "Mult", 2.0, 3.0)), "") << "literals stay literals";
}

TEST(Origins, WholePartsOfExtentsAreExtents) {
  graph::Builder graph;
  const auto whole = [&](const char* op, const Value& by, bool up) {
    const auto dim = whole_part(*arithmetic(graph, op, kB, by), up);
    return dim ? dim->text() : "";
  };
  EXPECT_EQ(whole("Mult", 0.5, false), "(B / 2)");
  EXPECT_EQ(whole("Mult", 0.75, false), "((3 * B) / 4)");
  EXPECT_EQ(whole("Div", Dim(4), true), "((B + 3) / 4)");
  EXPECT_EQ(whole("Mult", 0.3, false), "scaled(B, 0.3)");
  EXPECT_EQ(whole("Add", 0.5, false), "");
}

TEST(Origins, AValueThatIsUsedFixesItsScalars) {
  graph::Builder graph;
  auto scalar = std::make_shared<RuntimeScalar>(RuntimeScalar{"lr"});
  auto origin = std::make_shared<NumberOrigin>();
  origin->text = "lr";
  origin->is_operand = true;
  origin->scalars = {scalar};
  const Value lr = Float(0.5, origin, false);
  const Result<Value> twice = arithmetic(graph, "Mult", lr, 2.0);
  EXPECT_EQ(origin_text(twice), "lr * 2");
  EXPECT_FALSE(scalar->fixed);
  ASSERT_TRUE(compare(graph, "Gt", *twice, 0.0));
  EXPECT_TRUE(scalar->fixed) << "a branch decides by the value";
}

TEST(Origins, AComparisonOfAFloatGuardsItsExtents) {
  graph::Builder graph;
  ASSERT_TRUE(compare(graph, "Gt", *arithmetic(graph, "Mult", kB, 0.5), 2.0));
  const graph::Graph traced = std::move(graph).finish({});
  EXPECT_EQ(traced.guards, std::vector<std::string>{"B == 6"});
}

}  // namespace
}  // namespace kw::frontend
