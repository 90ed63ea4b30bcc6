// References compute numbers from extents and scalars in Python floats: D ** -0.5, log(V), 1 -
// beta ** step. A kernel needs them for every shape, and computing them in double in every thread
// is slow. So the plan computes them once per launch and passes them by value. The grammar is a
// small one of its own, because plan integers divide as in C and have conditions, which numbers do
// not need; int(…) holds an integer expression. A parser shared with the integers was the
// alternative; it would need a type for every node. The cost: two grammars in one file format.
#include "kernel/number_expr.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/text.h"
#include "kernel/parse_expr.h"
#include "kernel/plan_names.h"
#include "tensor/host_tensor.h"

namespace kw::kernel {

namespace {

constexpr int kDeepest = 60;
constexpr size_t kMostNodes = 500;

struct FunctionRow {
  const char* name;
  size_t arguments;
  NumberFunction apply;
};

double rounded(tensor::DType dtype, double value) {
  Result<tensor::HostTensor> one = tensor::make_tensor(dtype, {});
  if (!one) return value;
  tensor::set_element(*one, 0, value);
  return tensor::get_element(*one, 0);
}

#define KW_UNARY(name)                                      \
  {                                                         \
#name, 1, [](double a, double) { return std::name(a); } \
  }
constexpr FunctionRow kRows[] = {
    KW_UNARY(sqrt),
    KW_UNARY(exp),
    KW_UNARY(exp2),
    KW_UNARY(log),
    KW_UNARY(log2),
    KW_UNARY(log10),
    KW_UNARY(log1p),
    KW_UNARY(expm1),
    KW_UNARY(sin),
    KW_UNARY(cos),
    KW_UNARY(tan),
    KW_UNARY(atan),
    KW_UNARY(sinh),
    KW_UNARY(cosh),
    KW_UNARY(tanh),
    KW_UNARY(erf),
    KW_UNARY(erfc),
    KW_UNARY(cbrt),
    KW_UNARY(floor),
    KW_UNARY(ceil),
    KW_UNARY(trunc),
    {"fp16", 1, [](double a, double) { return rounded(tensor::DType::Fp16, a); }},
    {"bf16", 1, [](double a, double) { return rounded(tensor::DType::Bf16, a); }},
    {"abs", 1, [](double a, double) { return std::fabs(a); }},
    {"pow", 2, [](double a, double b) { return std::pow(a, b); }},
    {"min", 2, [](double a, double b) { return b < a ? b : a; }},
    {"max", 2, [](double a, double b) { return b > a ? b : a; }},
};
#undef KW_UNARY

class NumberParser {
 public:
  explicit NumberParser(Cursor& cursor) : cursor_(cursor) {}

  std::optional<NumberExpr> run() {
    const size_t begin = cursor_.position();
    if (!sum()) return std::nullopt;
    expr_.text = std::string(trim(cursor_.text(begin, cursor_.position_after())));
    expr_.line = cursor_.line();
    expr_.column = static_cast<int>(begin) + 1;
    return std::move(expr_);
  }

 private:
  using Index = std::optional<int>;

  Index add(NumberNode node, size_t begin) {
    if (expr_.nodes.size() >= kMostNodes) {
      cursor_.fail_at(begin, begin + 1, "this expression is too long");
      return std::nullopt;
    }
    node.column = static_cast<int>(begin) + 1;
    node.length = static_cast<int>(cursor_.position_after() - begin);
    expr_.nodes.push_back(std::move(node));
    return static_cast<int>(expr_.nodes.size()) - 1;
  }

  Index both(NumberOp op, int left, Index right, size_t begin) {
    if (!right) return std::nullopt;
    return add({op, 0, "", {}, {left, *right}, 0, 0}, begin);
  }

  Index sum() {
    const size_t begin = cursor_.position();
    Index left = product();
    while (left) {
      if (cursor_.accept("+"))
        left = both(NumberOp::Add, *left, product(), begin);
      else if (cursor_.accept("-"))
        left = both(NumberOp::Subtract, *left, product(), begin);
      else
        break;
    }
    return left;
  }

  Index product() {
    const size_t begin = cursor_.position();
    Index left = unary();
    while (left) {
      if (cursor_.accept("*"))
        left = both(NumberOp::Multiply, *left, unary(), begin);
      else if (cursor_.accept("/"))
        left = both(NumberOp::Divide, *left, unary(), begin);
      else
        break;
    }
    return left;
  }

  Index unary() {
    if (depth_ >= kDeepest) {
      cursor_.fail("this expression is nested too deeply");
      return std::nullopt;
    }
    ++depth_;
    const Index node = primary();
    --depth_;
    return node;
  }

  Index primary() {
    const size_t begin = cursor_.position();
    if (cursor_.accept("-")) {
      const Index operand = unary();
      return operand ? add({NumberOp::Negate, 0, "", {}, {*operand}, 0, 0}, begin) : std::nullopt;
    }
    if (cursor_.accept("(")) {
      const Index inner = sum();
      return inner && cursor_.expect(")", "the expression") ? inner : std::nullopt;
    }
    const char next = cursor_.peek();
    if ((next >= '0' && next <= '9') || next == '.') return literal(begin);
    const std::string word(cursor_.take_word());
    if (word == "inf" || word == "nan")
      return add({NumberOp::Literal, word == "inf" ? INFINITY : NAN, "", {}, {}, 0, 0}, begin);
    if (!word.empty() && cursor_.peek() == '(') return call(word, begin);
    if (!word.empty()) return add({NumberOp::Name, 0, word, {}, {}, 0, 0}, begin);
    cursor_.fail("expected a number, a name or '(', found " + cursor_.found(),
                 "numbers have + - * /, functions such as sqrt(D) and pow(D, -0.5), and int(…) "
                 "around integer expressions");
    return std::nullopt;
  }

  Index literal(size_t begin) {
    constexpr std::string_view kDigits = "0123456789.";
    std::string text(cursor_.take_run(kDigits));
    const size_t at = cursor_.position_after();
    const char exponent = cursor_.peek();
    if ((exponent == 'e' || exponent == 'E') && cursor_.position() == at) {
      text += "e";
      cursor_.move_to(at + 1);
      if (cursor_.accept("-")) text += "-";
      if (cursor_.accept("+")) text += "+";
      text += cursor_.take_run("0123456789");
    }
    const std::optional<double> value = parse_double(text);
    if (value) return add({NumberOp::Literal, *value, "", {}, {}, 0, 0}, begin);
    cursor_.fail_at(begin, std::max(begin + 1, cursor_.position_after()),
                    fmt::format("'{}' is not a number", text));
    return std::nullopt;
  }

  Index integer(size_t begin) {
    std::optional<Expr> inner = parse_expression(cursor_);
    if (!inner || !cursor_.expect(")", "the integer expression")) return std::nullopt;
    return add({NumberOp::Integer, 0, "", std::move(*inner), {}, 0, 0}, begin);
  }

  Index call(const std::string& word, size_t begin) {
    const size_t end = cursor_.position_after();
    cursor_.accept("(");
    if (word == "int") return integer(begin);
    NumberNode node{NumberOp::Call, 0, word, {}, {}, 0, 0};
    do {
      const Index argument = sum();
      if (!argument) return std::nullopt;
      node.children.push_back(*argument);
    } while (cursor_.accept(","));
    if (!cursor_.expect(")", "the arguments")) return std::nullopt;
    if (number_function(word, node.children.size()) != nullptr) return add(std::move(node), begin);
    std::vector<std::string> names = {"int"};
    for (const FunctionRow& row : kRows) names.emplace_back(row.name);
    cursor_.fail_at(begin, end,
                    fmt::format("no function '{}' of {} number{}{}", word, node.children.size(),
                                node.children.size() == 1 ? "" : "s", suggestion(word, names)),
                    "functions of numbers are " + join(names, ", "));
    return std::nullopt;
  }

  Cursor& cursor_;
  NumberExpr expr_;
  int depth_ = 0;
};

Result<double> value_of(const NumberExpr& expr, int index, const Scope& integers,
                        const std::map<std::string, double>& floats) {
  const NumberNode& node = expr.nodes[static_cast<size_t>(index)];
  std::vector<double> values;
  for (const int child : node.children)
    values.push_back(KW_TRY(value_of(expr, child, integers, floats)));
  switch (node.op) {
    case NumberOp::Literal:
      return node.value;
    case NumberOp::Integer: {
      const int64_t whole = KW_TRY(evaluate(node.integer, integers));
      return static_cast<double>(whole);
    }
    case NumberOp::Name: {
      const auto found = floats.find(node.name);
      if (found != floats.end()) return found->second;
      const int64_t whole = KW_TRY(evaluate_name(node.name, integers, expr.line));
      return static_cast<double>(whole);
    }
    case NumberOp::Negate:
      return -values[0];
    case NumberOp::Add:
      return values[0] + values[1];
    case NumberOp::Subtract:
      return values[0] - values[1];
    case NumberOp::Multiply:
      return values[0] * values[1];
    case NumberOp::Divide:
      return values[0] / values[1];
    case NumberOp::Call:
      return number_function(node.name, values.size())(values[0], values.back());
  }
  return input_error("line {}: '{}' has no value", expr.line, expr.text);
}

}  // namespace

NumberFunction number_function(const std::string& name, size_t arguments) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const FunctionRow& one) {
    return name == one.name && one.arguments == arguments;
  });
  return row == std::end(kRows) ? nullptr : row->apply;
}

std::optional<NumberExpr> parse_number(Cursor& cursor) { return NumberParser(cursor).run(); }

std::optional<NumberExpr> parse_number(const std::string& text) {
  std::vector<cuda_source::Diagnostic> problems;
  Cursor cursor(text, 1, 0, text.size(), problems);
  std::optional<NumberExpr> expr = parse_number(cursor);
  return cursor.at_end() ? std::move(expr) : std::nullopt;
}

Result<double> evaluate(const NumberExpr& expr, const Scope& integers,
                        const std::map<std::string, double>& floats) {
  return value_of(expr, static_cast<int>(expr.nodes.size()) - 1, integers, floats);
}

}  // namespace kw::kernel
