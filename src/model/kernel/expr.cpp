// Plan expressions come from untrusted text and decide grids and buffer sizes. So evaluation must
// end, and no overflow may pass unnoticed. Every operation checks for overflow and division by
// zero, and the Error shows the values of all names. && and ||, and pick(), evaluate only what they
// need, so a guard can protect a division. A compiled form would be faster, but each expression
// runs only a few times per launch. Lets are evaluated once and kept in the Scope; without that,
// nested lets would cost exponential time. The cost: recursion, limited to kMaxDepth levels.
#include "kernel/expr.h"

#include <fmt/core.h>

#include <cmath>

#include "core/check.h"

namespace kw::kernel {

namespace {

// The limit for nested operators and lets together, so that no text can exhaust the stack.
constexpr int kMaxDepth = 1000;

class Evaluator {
 public:
  Evaluator(const Expr& expr, const Scope& scope, int depth)
      : expr_(expr), scope_(scope), depth_(depth) {}

  Result<int64_t> run() { return node(static_cast<int>(expr_.nodes.size()) - 1); }

 private:
  Error domain(const std::string& what) const {
    const std::string values = values_of(expr_, scope_);
    return input_error("line {}: '{}': {}{}", expr_.line, expr_.text, what,
                       values.empty() ? "" : " (" + values + ")");
  }

  Result<int64_t> node(int index) {
    if (depth_ >= kMaxDepth) return domain("expressions and 'let' lines are nested too deeply");
    ++depth_;
    Result<int64_t> value = apply(expr_.nodes[static_cast<size_t>(index)]);
    --depth_;
    return value;
  }

  Result<int64_t> apply(const ExprNode& n) {
    switch (n.op) {
      case ExprOp::Number:
        return n.value;
      case ExprOp::Name:
        return name(n.name);
      case ExprOp::Has:
        return int64_t{scope_.absent.count(n.name) == 0};
      case ExprOp::BlocksPerSm:
        if (!scope_.blocks_per_sm) return domain("blocks_per_sm() is known only after compiling");
        return scope_.blocks_per_sm(n.name);
      case ExprOp::Negate:
      case ExprOp::Not:
        return unary(n);
      case ExprOp::And:
      case ExprOp::Or:
        return logic(n);
      case ExprOp::Pick:
        return pick(n);
      case ExprOp::Min:
      case ExprOp::Max:
        return extreme(n);
      case ExprOp::Scaled:
        return scaled(n);
      default:
        return binary(n);
    }
  }

  Result<int64_t> name(const std::string& name) {
    if (const auto at = scope_.values.find(name); at != scope_.values.end()) return at->second;
    if (const auto at = scope_.known_lets.find(name); at != scope_.known_lets.end())
      return at->second;
    const auto let = scope_.lets.find(name);
    if (let == scope_.lets.end()) return domain("'" + name + "' has no value");
    const int64_t value = KW_TRY(Evaluator(*let->second, scope_, depth_).run());
    scope_.known_lets[name] = value;
    return value;
  }

  Result<int64_t> unary(const ExprNode& n) {
    const int64_t value = KW_TRY(node(n.children[0]));
    if (n.op == ExprOp::Not) return int64_t{value == 0};
    int64_t out = 0;
    if (__builtin_sub_overflow(int64_t{0}, value, &out)) return overflow();
    return out;
  }

  Result<int64_t> logic(const ExprNode& n) {
    const int64_t left = KW_TRY(node(n.children[0]));
    const bool decided = n.op == ExprOp::And ? left == 0 : left != 0;
    if (decided) return int64_t{left != 0};
    const int64_t right = KW_TRY(node(n.children[1]));
    return int64_t{right != 0};
  }

  Result<int64_t> pick(const ExprNode& n) {
    const int64_t index = KW_TRY(node(n.children[0]));
    const auto choices = static_cast<int64_t>(n.children.size()) - 1;
    if (index < 0 || index >= choices) {
      return domain(fmt::format("index {} is out of range; pick() has {} value{}", index, choices,
                                choices == 1 ? "" : "s"));
    }
    return node(n.children[static_cast<size_t>(index) + 1]);
  }

  Result<int64_t> extreme(const ExprNode& n) {
    int64_t best = KW_TRY(node(n.children[0]));
    for (size_t i = 1; i < n.children.size(); ++i) {
      const int64_t value = KW_TRY(node(n.children[i]));
      if (n.op == ExprOp::Min ? value < best : value > best) best = value;
    }
    return best;
  }

  // Python's int(a * factor): the product is rounded to a double before its fraction is dropped.
  Result<int64_t> scaled(const ExprNode& n) {
    const int64_t value = KW_TRY(node(n.children[0]));
    const double product = static_cast<double>(value) * n.factor;
    if (!(std::fabs(product) < 0x1p62)) return overflow();
    return static_cast<int64_t>(product);
  }

  Result<int64_t> binary(const ExprNode& n) {
    const int64_t a = KW_TRY(node(n.children[0]));
    const int64_t b = KW_TRY(node(n.children[1]));
    switch (n.op) {
      case ExprOp::Less:
        return int64_t{a < b};
      case ExprOp::LessEqual:
        return int64_t{a <= b};
      case ExprOp::Greater:
        return int64_t{a > b};
      case ExprOp::GreaterEqual:
        return int64_t{a >= b};
      case ExprOp::Equal:
        return int64_t{a == b};
      case ExprOp::NotEqual:
        return int64_t{a != b};
      default:
        return arithmetic(n.op, a, b);
    }
  }

  Result<int64_t> arithmetic(ExprOp op, int64_t a, int64_t b) {
    int64_t out = 0;
    switch (op) {
      case ExprOp::Add:
        if (__builtin_add_overflow(a, b, &out)) return overflow();
        return out;
      case ExprOp::Subtract:
        if (__builtin_sub_overflow(a, b, &out)) return overflow();
        return out;
      case ExprOp::Multiply:
        if (__builtin_mul_overflow(a, b, &out)) return overflow();
        return out;
      case ExprOp::Divide:
      case ExprOp::Remainder:
        if (b == 0) return domain("division by zero");
        if (a == INT64_MIN && b == -1) return overflow();
        return op == ExprOp::Divide ? a / b : a % b;
      case ExprOp::CeilDiv:
        if (b <= 0) return domain(fmt::format("ceil_div() needs a divisor above 0, not {}", b));
        return a / b + (a % b > 0 ? 1 : 0);
      default:
        KW_CHECK(false, "every operator is handled above");
    }
  }

  Error overflow() const { return domain("the result does not fit 64 bits"); }

  const Expr& expr_;
  const Scope& scope_;
  int depth_;
};

}  // namespace

Result<int64_t> evaluate(const Expr& expr, const Scope& scope) {
  KW_CHECK(!expr.nodes.empty(), "an Expr comes from the parser");
  return Evaluator(expr, scope, 0).run();
}

Result<int64_t> evaluate_name(const std::string& name, const Scope& scope, int line) {
  return evaluate(
      Expr{name, line, 1, {{ExprOp::Name, 0, name, {}, 1, static_cast<int>(name.size())}}}, scope);
}

std::string values_of(const Expr& expr, const Scope& scope) {
  std::string out;
  std::set<std::string> seen;
  for (const ExprNode& n : expr.nodes) {
    std::string shown;
    if (n.op == ExprOp::Name && seen.insert(n.name).second) {
      const auto value = scope.values.find(n.name);
      const auto let = scope.known_lets.find(n.name);
      if (value != scope.values.end()) shown = fmt::format("{} = {}", n.name, value->second);
      if (let != scope.known_lets.end()) shown = fmt::format("{} = {}", n.name, let->second);
    }
    if (n.op == ExprOp::Has && seen.insert("has " + n.name).second) {
      shown = fmt::format("has({}) = {}", n.name, scope.absent.count(n.name) == 0 ? 1 : 0);
    }
    if (n.op == ExprOp::BlocksPerSm && scope.blocks_per_sm &&
        seen.insert("blocks " + n.name).second) {
      const Result<int64_t> blocks = scope.blocks_per_sm(n.name);
      if (blocks) shown = fmt::format("blocks_per_sm({}) = {}", n.name, *blocks);
    }
    if (shown.empty()) continue;
    if (!out.empty()) out += ", ";
    out += shown;
  }
  return out;
}

}  // namespace kw::kernel
