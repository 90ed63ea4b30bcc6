#include "kernel/expr.h"

#include <gtest/gtest.h>

#include <random>

#include "kernel/parse_expr.h"

namespace kw::kernel {
namespace {

std::optional<Expr> parse_text(const std::string& text,
                               std::vector<cuda_source::Diagnostic>& diagnostics) {
  Cursor cursor(text, 1, 0, text.size(), diagnostics);
  std::optional<Expr> expr = parse_expression(cursor);
  if (expr && !cursor.expect_end("")) return std::nullopt;
  return expr;
}

Scope scope() {
  Scope s;
  s.values = {{"B", 4}, {"D", 130}, {"ZERO", 0}, {"BIG", INT64_MAX}, {"LOW", INT64_MIN}};
  s.absent = {"bias"};
  s.blocks_per_sm = [](const std::string& kernel) -> Result<int64_t> {
    return kernel == "k<2, 3>" ? int64_t{7} : int64_t{1};
  };
  return s;
}

struct Value {
  const char* text;
  int64_t want;
};

class Values : public testing::TestWithParam<Value> {};

TEST_P(Values, Evaluate) {
  std::vector<cuda_source::Diagnostic> diagnostics;
  const auto expr = parse_text(GetParam().text, diagnostics);
  ASSERT_TRUE(expr) << GetParam().text << ": " << diagnostics[0].message;
  const auto value = evaluate(*expr, scope());
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, GetParam().want) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Values,
    testing::Values(
        Value{"1 + 2 * 3", 7}, Value{"(1 + 2) * 3", 9}, Value{"10 - 4 - 3", 3},
        Value{"100 / 7 / 2", 7}, Value{"-7 / 2", -3}, Value{"-7 % 2", -1}, Value{"- -3", 3},
        Value{"!0 + !5", 1}, Value{"0x10 + 1", 17}, Value{"true", 1}, Value{"false || D > 4", 1},
        Value{"B < 4", 0}, Value{"B <= 4", 1}, Value{"B >= 5", 0}, Value{"B == 4 && D != 4", 1},
        Value{"(1 < 2) == (3 < 4)", 1}, Value{"ceil_div(D, 64)", 3}, Value{"ceil_div(0, 64)", 0},
        Value{"ceil_div(128, 64)", 2}, Value{"ceil_div(-1, 64)", 0}, Value{"ceil_div(-65, 64)", -1},
        Value{"min(3, B, 9)", 3}, Value{"max(3, B, 9)", 9}, Value{"pick(1, 10, 20, 30)", 20},
        Value{"pick(B > 3, 1, 2)", 2}, Value{"has(bias)", 0}, Value{"has(x)", 1},
        Value{"blocks_per_sm(k<2, 3>) * 2", 14}, Value{"blocks_per_sm(k<2,3>)", 7},
        Value{"blocks_per_sm(other)", 1},
        // Operands that are not needed are not evaluated.
        Value{"ZERO != 0 && 4 % ZERO == 0", 0}, Value{"ZERO == 0 || 4 % ZERO == 0", 1},
        Value{"pick(0, 1, 4 / ZERO)", 1}, Value{"BIG", INT64_MAX},
        Value{"-9223372036854775807 - 1", INT64_MIN}));

struct Failure {
  const char* text;
  const char* message;
};

class DomainErrors : public testing::TestWithParam<Failure> {};

TEST_P(DomainErrors, ShowTheValues) {
  std::vector<cuda_source::Diagnostic> diagnostics;
  const auto expr = parse_text(GetParam().text, diagnostics);
  ASSERT_TRUE(expr) << GetParam().text;
  const auto value = evaluate(*expr, scope());
  ASSERT_FALSE(value) << *value;
  EXPECT_EQ(value.error().blame, Blame::Input);
  EXPECT_EQ(value.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DomainErrors,
    testing::Values(
        Failure{"D / ZERO", "line 1: 'D / ZERO': division by zero (D = 130, ZERO = 0)"},
        Failure{"D % (B - 4)", "line 1: 'D % (B - 4)': division by zero (D = 130, B = 4)"},
        Failure{"ceil_div(D, -B)",
                "line 1: 'ceil_div(D, -B)': ceil_div() needs a divisor above 0, not -4 (D = 130, B "
                "= 4)"},
        Failure{"BIG + 1",
                "line 1: 'BIG + 1': the result does not fit 64 bits (BIG = 9223372036854775807)"},
        Failure{"LOW - 1",
                "line 1: 'LOW - 1': the result does not fit 64 bits (LOW = -9223372036854775808)"},
        Failure{"-LOW",
                "line 1: '-LOW': the result does not fit 64 bits (LOW = -9223372036854775808)"},
        Failure{"LOW / -1",
                "line 1: 'LOW / -1': the result does not fit 64 bits (LOW = -9223372036854775808)"},
        Failure{"BIG * 2",
                "line 1: 'BIG * 2': the result does not fit 64 bits (BIG = 9223372036854775807)"},
        Failure{"pick(B, 1, 2)",
                "line 1: 'pick(B, 1, 2)': index 4 is out of range; pick() has 2 values (B = 4)"},
        Failure{"UNKNOWN + 1", "line 1: 'UNKNOWN + 1': 'UNKNOWN' has no value"}));

class SyntaxErrors : public testing::TestWithParam<Failure> {};

TEST_P(SyntaxErrors, AreReported) {
  std::vector<cuda_source::Diagnostic> diagnostics;
  EXPECT_FALSE(parse_text(GetParam().text, diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SyntaxErrors,
    testing::Values(Failure{"", "expected a number, a name or '(', found the end of the line"},
                    Failure{"1 +", "expected a number, a name or '(', found the end of the line"},
                    Failure{"(1", "expected ')' after the expression, found the end of the line"},
                    Failure{"1 < 2 < 3", "comparisons do not chain"},
                    Failure{"1 == 2 != 3", "comparisons do not chain"},
                    Failure{"a = 1", "'=' is not an operator here"},
                    Failure{"1.5", "'.' is not an operator here"},
                    Failure{"12x", "'12x' is not an integer"},
                    Failure{"min(1)", "min does not take 1 argument"},
                    Failure{"pick(1)", "pick does not take 1 argument"},
                    Failure{"has(3)", "has() takes the name of an optional input, found '3'"},
                    Failure{"floor(3)", "unknown function 'floor'"},
                    Failure{"a & b", "'&' is not an operator here"},
                    Failure{"a b", "unexpected 'b'; the line should end here"},
                    Failure{"blocks_per_sm(k<3)",
                            "the '<' of the template arguments is never closed"}));

TEST(Lets, AreEvaluatedOnceAndOnlyWhenNeeded) {
  // Each let is twice the one before, fifty times: too slow unless values are kept.
  std::vector<cuda_source::Diagnostic> diagnostics;
  std::vector<Expr> exprs;
  exprs.reserve(60);
  Scope s;
  s.values["L0"] = 1;
  for (int i = 1; i <= 50; ++i) {
    const std::string before = "L" + std::to_string(i - 1);
    exprs.push_back(*parse_text(before + " + " + before, diagnostics));
    s.lets["L" + std::to_string(i)] = &exprs.back();
  }
  exprs.push_back(*parse_text("1 / 0", diagnostics));
  s.lets["BROKEN"] = &exprs.back();
  const auto value = evaluate(*parse_text("pick(0, L50, BROKEN)", diagnostics), s);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, int64_t{1} << 50);
}

TEST(Lets, DepthIsBounded) {
  std::vector<cuda_source::Diagnostic> diagnostics;
  std::vector<Expr> exprs;
  exprs.reserve(5000);
  Scope s;
  s.values["L0"] = 1;
  for (int i = 1; i <= 4000; ++i) {
    exprs.push_back(*parse_text("L" + std::to_string(i - 1) + " + 1", diagnostics));
    s.lets["L" + std::to_string(i)] = &exprs.back();
  }
  const auto value = evaluate(*parse_text("L4000", diagnostics), s);
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("nested too deeply"), std::string::npos);
}

__extension__ typedef __int128 Wide;

// A second, simpler evaluator with 128 bits. It must give the same value, or an error when the true
// value exceeds 64 bits.
class RandomExpr {
 public:
  explicit RandomExpr(uint64_t seed) : random_(seed) {}

  struct Made {
    std::string text;
    std::optional<Wide> value;  // not set: undefined or out of range at some step
  };

  Made make(int depth) {
    if (depth == 0 || random_() % 5 == 0) return leaf();
    const Made a = make(depth - 1), b = make(depth - 1);
    switch (random_() % 9) {
      case 0:
        return {"(" + a.text + " + " + b.text + ")",
                both(a, b, [](auto x, auto y) { return x + y; })};
      case 1:
        return {"(" + a.text + " - " + b.text + ")",
                both(a, b, [](auto x, auto y) { return x - y; })};
      case 2:
        return {"(" + a.text + " * " + b.text + ")",
                both(a, b, [](auto x, auto y) { return x * y; })};
      case 3:
        return divide(a, b, " / ");
      case 4:
        return divide(a, b, " % ");
      case 5:
        return {"min(" + a.text + ", " + b.text + ")",
                both(a, b, [](auto x, auto y) { return std::min(x, y); })};
      case 6:
        return {"(" + a.text + " < " + b.text + ")",
                both(a, b, [](auto x, auto y) { return static_cast<Wide>(x < y); })};
      case 7:
        return {"(-" + a.text + ")", a.value ? in_range(-*a.value) : std::nullopt};
      default:
        return ceil_div(a, b);
    }
  }

 private:
  static std::optional<Wide> in_range(Wide v) {
    if (v < INT64_MIN || v > INT64_MAX) return std::nullopt;
    return v;
  }
  template <typename F>
  static std::optional<Wide> both(const Made& a, const Made& b, F f) {
    if (!a.value || !b.value) return std::nullopt;
    return in_range(f(*a.value, *b.value));
  }
  Made leaf() {
    static constexpr int64_t kInteresting[] = {0, 1, 2, 3, 7, 64, 1000, INT32_MAX, INT64_MAX};
    const int64_t v = kInteresting[random_() % std::size(kInteresting)];
    return {std::to_string(v), v};
  }
  static Made divide(const Made& a, const Made& b, const char* op) {
    Made out{"(" + a.text + op + b.text + ")", std::nullopt};
    if (a.value && b.value && *b.value != 0 && !(*a.value == INT64_MIN && *b.value == -1)) {
      out.value = op[1] == '/' ? *a.value / *b.value : *a.value % *b.value;
    }
    return out;
  }
  static Made ceil_div(const Made& a, const Made& b) {
    Made out{"ceil_div(" + a.text + ", " + b.text + ")", std::nullopt};
    if (a.value && b.value && *b.value > 0) {
      const Wide floor =
          *a.value >= 0 ? *a.value / *b.value : -((-*a.value + *b.value - 1) / *b.value);
      out.value = floor * *b.value == *a.value ? floor : floor + 1;
    }
    return out;
  }

  std::mt19937_64 random_;
};

TEST(Property, AgreesWithWideArithmetic) {
  RandomExpr random(7);
  int valid = 0;
  for (int i = 0; i < 20000; ++i) {
    const RandomExpr::Made made = random.make(4);
    std::vector<cuda_source::Diagnostic> diagnostics;
    const auto expr = parse_text(made.text, diagnostics);
    ASSERT_TRUE(expr) << made.text;
    const auto value = evaluate(*expr, Scope{});
    ASSERT_EQ(value.has_value(), made.value.has_value()) << made.text;
    if (value) {
      ASSERT_EQ(*value, static_cast<int64_t>(*made.value)) << made.text;
    }
    valid += value.has_value();
  }
  EXPECT_GT(valid, 5000);
}

}  // namespace
}  // namespace kw::kernel
