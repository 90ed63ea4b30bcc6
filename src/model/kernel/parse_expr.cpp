// Plan expressions use the operators of C, so that authors know them. A recursive descent parser
// over a table of operators with levels reads them. The result is a vector of nodes with children
// before parents, which can be copied and evaluated without pointers. Chained comparisons are
// refused, because C would give "a < b < c" an unexpected meaning. Operators of other languages get
// a hint with the right form. A parser generator would be exact too, but its messages would be
// worse. The cost: limits on nesting (kMostNesting) and length (kMaxNodes), so that no text can
// exhaust the stack or memory.
#include "kernel/parse_expr.h"

#include <fmt/core.h>

#include <array>
#include <limits>
#include <utility>

#include "core/text.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

namespace {

constexpr int kMostNesting = 60;
constexpr size_t kMaxNodes = 2000;

struct BinaryOperator {
  std::string_view text;
  ExprOp op;
  int level;  // a larger level binds tighter
};

// Longer spellings come first, so that "<=" is not read as "<".
constexpr std::array<BinaryOperator, 13> kBinary = {{
    {"||", ExprOp::Or, 1},
    {"&&", ExprOp::And, 2},
    {"==", ExprOp::Equal, 3},
    {"!=", ExprOp::NotEqual, 3},
    {"<=", ExprOp::LessEqual, 3},
    {">=", ExprOp::GreaterEqual, 3},
    {"<", ExprOp::Less, 3},
    {">", ExprOp::Greater, 3},
    {"+", ExprOp::Add, 4},
    {"-", ExprOp::Subtract, 4},
    {"*", ExprOp::Multiply, 5},
    {"/", ExprOp::Divide, 5},
    {"%", ExprOp::Remainder, 5},
}};
constexpr int kComparison = 3;

constexpr const char* kOperatorList = "operators are + - * / % == != < <= > >= && || !";
constexpr std::pair<char, const char*> kHints[] = {
    {'=', "compare with '=='"},
    {'?', "write pick(condition, if_false, if_true)"},
    {'.', "expressions hold integers only"},
    {'&', "and is '&&'"},
    {'|', "or is '||'"},
    {'^', kOperatorList},
    {'~', kOperatorList},
};

struct Function {
  std::string_view name;
  ExprOp op;
  size_t least, most;
  std::string_view form;
};

constexpr size_t kAny = std::numeric_limits<size_t>::max();
constexpr std::array<Function, 4> kFunctions = {{
    {"ceil_div", ExprOp::CeilDiv, 2, 2, "ceil_div(a, b)"},
    {"min", ExprOp::Min, 2, kAny, "min(a, b, …)"},
    {"max", ExprOp::Max, 2, kAny, "max(a, b, …)"},
    {"pick", ExprOp::Pick, 2, kAny, "pick(index, value0, value1, …)"},
}};

class ExprParser {
 public:
  explicit ExprParser(Cursor& cursor) : cursor_(cursor) {}

  std::optional<Expr> run() {
    const size_t begin = cursor_.position();
    const std::optional<int> root = binary(1);
    if (!root || !check_what_follows()) return std::nullopt;
    expr_.text = std::string(trim(cursor_.text(begin, end_)));
    expr_.line = cursor_.line();
    expr_.column = static_cast<int>(begin) + 1;
    return std::move(expr_);
  }

 private:
  std::optional<int> add(ExprNode node, size_t begin) {
    if (expr_.nodes.size() >= kMaxNodes) {
      cursor_.fail_at(begin, begin + 1, "this expression is too long");
      return std::nullopt;
    }
    node.column = static_cast<int>(begin) + 1;
    node.length = static_cast<int>(end_ - begin);
    expr_.nodes.push_back(std::move(node));
    return static_cast<int>(expr_.nodes.size()) - 1;
  }

  const BinaryOperator* peek_operator() {
    for (const BinaryOperator& candidate : kBinary) {
      const size_t at = cursor_.position();
      if (!cursor_.accept(candidate.text)) continue;
      cursor_.move_to(at);
      return &candidate;
    }
    return nullptr;
  }

  std::optional<int> binary(int level) {
    if (level > 5) return unary();
    const size_t begin = cursor_.position();
    std::optional<int> left = binary(level + 1);
    while (left) {
      const BinaryOperator* found = peek_operator();
      if (found == nullptr || found->level != level) return left;
      const size_t at = cursor_.position();
      if (level == kComparison && is_comparison(*left)) {
        cursor_.fail_at(at, at + found->text.size(), "comparisons do not chain",
                        "write 'a < b && b < c', or put one comparison in parentheses");
        return std::nullopt;
      }
      cursor_.accept(found->text);
      const std::optional<int> right = binary(level + 1);
      if (!right) return std::nullopt;
      left = add({found->op, 0, "", {*left, *right}, 0, 0}, begin);
    }
    return left;
  }

  // A comparison in parentheses may be compared again, so it does not count.
  bool is_comparison(int node) const {
    const ExprOp op = expr_.nodes[static_cast<size_t>(node)].op;
    return op >= ExprOp::Less && op <= ExprOp::NotEqual && node != parenthesised_;
  }

  std::optional<int> unary() {
    if (depth_ >= kMostNesting) {
      cursor_.fail("this expression is nested too deeply");
      return std::nullopt;
    }
    ++depth_;
    const std::optional<int> node = unary_inside();
    --depth_;
    return node;
  }

  std::optional<int> unary_inside() {
    const size_t begin = cursor_.position();
    for (const auto& [text, op] : {std::pair{"-", ExprOp::Negate}, std::pair{"!", ExprOp::Not}}) {
      if (!cursor_.accept(text)) continue;
      const std::optional<int> operand = unary();
      if (!operand) return std::nullopt;
      return add({op, 0, "", {*operand}, 0, 0}, begin);
    }
    if (cursor_.accept("(")) {
      const std::optional<int> inner = binary(1);
      if (!inner || !cursor_.expect(")", "the expression")) return std::nullopt;
      end_ = cursor_.position_after();
      parenthesised_ = *inner;
      return inner;
    }
    if (cursor_.peek() >= '0' && cursor_.peek() <= '9') return number(begin);
    if (!cursor_.peek_word().empty()) return name(begin);
    cursor_.fail("expected a number, a name or '(', found " + cursor_.found(), operator_hint());
    return std::nullopt;
  }

  // Operators of other languages get a hint instead of "unexpected".
  bool check_what_follows() {
    const char next = cursor_.peek();
    if (next == '.' && cursor_.peek(1) == '.') return true;
    const std::string hint = operator_hint();
    return hint.empty() || cursor_.fail(fmt::format("'{}' is not an operator here", next), hint);
  }

  std::string operator_hint() {
    for (const auto& [operator_character, hint] : kHints)
      if (cursor_.peek() == operator_character) return hint;
    return "";
  }

  std::optional<int> number(size_t begin) {
    const std::optional<int64_t> value = cursor_.take_integer("a number");
    if (!value) return std::nullopt;
    end_ = cursor_.position_after();
    return add({ExprOp::Number, *value, "", {}, 0, 0}, begin);
  }

  std::optional<int> name(size_t begin) {
    const std::string word(cursor_.take_word());
    end_ = cursor_.position_after();
    if (word == "true" || word == "false") {
      return add({ExprOp::Number, word == "true" ? 1 : 0, "", {}, 0, 0}, begin);
    }
    if (cursor_.peek() != '(') return add({ExprOp::Name, 0, word, {}, 0, 0}, begin);
    if (word == "has") return has(begin);
    if (word == "blocks_per_sm") return blocks_per_sm(begin);
    if (word == "scaled") return scaled(begin);
    for (const Function& function : kFunctions) {
      if (word == function.name) return call(function, begin);
    }
    cursor_.fail_at(begin, end_, "unknown function '" + word + "'" + suggestion(word, functions()),
                    "functions are ceil_div, min, max, pick, scaled, has and blocks_per_sm");
    return std::nullopt;
  }

  static std::vector<std::string> functions() {
    std::vector<std::string> names = {"has", "blocks_per_sm", "scaled"};
    for (const Function& function : kFunctions) names.emplace_back(function.name);
    return names;
  }

  std::optional<int> call(const Function& function, size_t begin) {
    ExprNode node;
    node.op = function.op;
    cursor_.accept("(");
    do {
      const std::optional<int> argument = binary(1);
      if (!argument) return std::nullopt;
      node.children.push_back(*argument);
    } while (cursor_.accept(","));
    if (!cursor_.expect(")", "the arguments of " + std::string(function.name))) return std::nullopt;
    end_ = cursor_.position_after();
    if (node.children.size() < function.least || node.children.size() > function.most) {
      cursor_.fail_at(begin, end_,
                      std::string(function.name) + " does not take " +
                          std::to_string(node.children.size()) + " argument" +
                          (node.children.size() == 1 ? "" : "s"),
                      "its form is " + std::string(function.form));
      return std::nullopt;
    }
    return add(std::move(node), begin);
  }

  std::optional<int> scaled(size_t begin) {
    cursor_.accept("(");
    ExprNode node;
    node.op = ExprOp::Scaled;
    const std::optional<int> value = binary(1);
    if (!value || !cursor_.expect(",", "the integer")) return std::nullopt;
    node.children = {*value};
    const size_t at = cursor_.position();
    const std::string_view text = cursor_.take_run("0123456789.e+-");
    const std::optional<double> factor = parse_double(text);
    if (!factor) {
      cursor_.fail_at(at, at + std::max<size_t>(text.size(), 1),
                      fmt::format("'{}' is not a number", text),
                      "its form is scaled(a, 0.5): a times the number, without its fraction");
      return std::nullopt;
    }
    node.factor = *factor;
    if (!cursor_.expect(")", "the arguments of scaled")) return std::nullopt;
    end_ = cursor_.position_after();
    return add(std::move(node), begin);
  }

  std::optional<int> has(size_t begin) {
    cursor_.accept("(");
    const std::string input(cursor_.take_word());
    if (input.empty()) {
      cursor_.fail("has() takes the name of an optional input, found " + cursor_.found());
      return std::nullopt;
    }
    if (!cursor_.expect(")", "the input's name")) return std::nullopt;
    end_ = cursor_.position_after();
    return add({ExprOp::Has, 0, input, {}, 0, 0}, begin);
  }

  std::optional<int> blocks_per_sm(size_t begin) {
    cursor_.accept("(");
    const std::optional<std::string> kernel = parse_kernel_name(cursor_);
    if (!kernel || !cursor_.expect(")", "the kernel's name")) return std::nullopt;
    end_ = cursor_.position_after();
    return add({ExprOp::BlocksPerSm, 0, *kernel, {}, 0, 0}, begin);
  }

  Cursor& cursor_;
  Expr expr_;
  size_t end_ = 0;  // offset after the last text taken
  int depth_ = 0;
  int parenthesised_ = -1;
};

// Replaces runs of blanks by one blank; no blank before a comma, one after it.
std::string normalise(std::string_view text) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t') {
      blank = true;
      continue;
    }
    const bool behind_comma = !out.empty() && out.back() == ',';
    if (behind_comma || (blank && c != ',')) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

}  // namespace

std::optional<Expr> parse_expression(Cursor& cursor) { return ExprParser(cursor).run(); }

std::optional<Expr> parse_expression(const std::string& text) {
  std::vector<cuda_source::Diagnostic> problems;
  Cursor cursor(text, 1, 0, text.size(), problems);
  std::optional<Expr> expr = parse_expression(cursor);
  return cursor.at_end() ? std::move(expr) : std::nullopt;
}

std::optional<std::string> parse_kernel_name(Cursor& cursor) {
  const size_t begin = cursor.position();
  cursor.accept("::");
  do {
    if (cursor.take_word().empty()) {
      cursor.fail("expected a kernel's name, found " + cursor.found());
      return std::nullopt;
    }
  } while (cursor.accept("::"));
  size_t end = cursor.position_after();
  if (cursor.peek() == '<') {
    int angles = 0, parentheses = 0;
    size_t at = cursor.position();
    const std::string_view rest = cursor.rest();
    for (size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c == '(') ++parentheses;
      if (c == ')') --parentheses;
      if (parentheses == 0 && c == '<') ++angles;
      if (parentheses == 0 && c == '>') --angles;
      if (parentheses < 0) break;
      if (angles == 0) {
        end = at + i + 1;
        break;
      }
    }
    if (angles != 0) {
      cursor.fail_at(at, at + 1, "the '<' of the template arguments is never closed",
                     "put comparisons inside template arguments in parentheses");
      return std::nullopt;
    }
    cursor.move_to(end);
  }
  return normalise(cursor.text(begin, end));
}

}  // namespace kw::kernel
