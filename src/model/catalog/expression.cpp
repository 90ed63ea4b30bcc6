// Conditions of the catalog are written by people, so they need 'and', 'or', 'not' and parentheses.
// A recursive descent parser with one token of lookahead is enough: any() reads 'or', all() reads
// 'and', one() reads the rest. A parser library or a table would need more code than the grammar
// itself. Recursion is limited to kDeepest levels, so that no text can exhaust the stack. The cost:
// an Error names the token where it stopped, but not the column.
#include "catalog/expression.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"

namespace kw::catalog {
namespace {

using Kind = Expression::Kind;

constexpr int kDeepest = 50;

bool is_word(char c) {
  return is_name_char(c) || c == '.' || c == '-' || c == '+';
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) { advance(); }

  Result<Expression> whole() {
    Expression found = KW_TRY(any());
    if (!token_.empty()) return expected("'and', 'or' or the end");
    return found;
  }

 private:
  Result<Expression> any() { return list(Kind::Or, "or", &ExpressionParser::all); }
  Result<Expression> all() { return list(Kind::And, "and", &ExpressionParser::one); }

  Result<Expression> list(Kind kind, std::string_view word,
                          Result<Expression> (ExpressionParser::*part)()) {
    Expression both;
    both.kind = kind;
    both.parts.push_back(KW_TRY((this->*part)()));
    while (token_ == word) {
      advance();
      both.parts.push_back(KW_TRY((this->*part)()));
    }
    if (both.parts.size() > 1) return both;
    Expression only = std::move(both.parts.front());
    return only;
  }

  Result<Expression> one() {
    if (depth_ >= kDeepest) return input_error("the condition is nested too deeply");
    ++depth_;
    Result<Expression> found = token_ == "not" ? negated() : token_ == "(" ? grouped() : clause();
    --depth_;
    return found;
  }

  Result<Expression> negated() {
    advance();
    Expression found;
    found.kind = Kind::Not;
    found.parts.push_back(KW_TRY(one()));
    return found;
  }

  Result<Expression> grouped() {
    advance();
    Expression found = KW_TRY(any());
    if (token_ != ")") return expected("')'");
    advance();
    return found;
  }

  Result<Expression> clause() {
    Expression found;
    const bool name = !token_.empty() && token_[0] >= 'a' && token_[0] <= 'z';
    if (!name || token_ == "and" || token_ == "or" || token_ == "worst")
      return expected("the name of a metric");
    found.metric = token_;
    advance();
    if (token_ != "<" && token_ != ">") return found;
    found.kind = token_ == "<" ? Kind::Below : Kind::Above;
    advance();
    found.good = KW_TRY(number());
    if (token_ != "worst") return found;
    advance();
    found.worst = KW_TRY(number());
    const bool falls = found.kind == Kind::Below;
    if (falls ? *found.worst >= found.good : *found.worst <= found.good) {
      return input_error("'{} {} {}': the worst value must be {} than that, not {}", found.metric,
                         falls ? '<' : '>', found.good, falls ? "smaller" : "larger", *found.worst);
    }
    return found;
  }

  Result<double> number() {
    const auto value = parse_double(token_);
    if (!value || !(*value - *value == 0)) return expected("a number");
    advance();
    return *value;
  }

  Error expected(const char* what) const {
    return input_error("{} expected at {}", what,
                       token_.empty() ? "the end" : "'" + std::string(token_) + "'");
  }

  void advance() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    const size_t begin = at_;
    if (at_ < text_.size() && !is_word(text_[at_++])) {
      token_ = text_.substr(begin, 1);
      return;
    }
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    token_ = text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string_view token_;
  int depth_ = 0;
};

void collect(const Expression& expression, std::vector<std::string>& names) {
  if (!expression.metric.empty() && !contains(names, expression.metric))
    names.push_back(expression.metric);
  for (const Expression& part : expression.parts) collect(part, names);
}

}  // namespace

Result<Expression> parse_expression(std::string_view text) {
  return ExpressionParser(text).whole();
}

std::string to_text(const Expression& e) {
  const auto wrapped = [&](const Expression& part) {
    const bool looser = part.kind == Kind::Or || (part.kind == Kind::And && e.kind == Kind::Not);
    return looser && e.kind != Kind::Or ? "(" + to_text(part) + ")" : to_text(part);
  };
  if (e.kind == Kind::Flag) return e.metric;
  if (e.kind == Kind::Not) return "not " + wrapped(e.parts.front());
  if (e.kind == Kind::Below || e.kind == Kind::Above) {
    const std::string text =
        fmt::format("{} {} {}", e.metric, e.kind == Kind::Below ? '<' : '>', e.good);
    return e.worst ? fmt::format("{} worst {}", text, *e.worst) : text;
  }
  std::vector<std::string> pieces;
  for (const Expression& part : e.parts) pieces.push_back(wrapped(part));
  return join(pieces, e.kind == Kind::And ? " and " : " or ");
}

std::vector<std::string> metrics_of(const Expression& expression) {
  std::vector<std::string> names;
  collect(expression, names);
  return names;
}

}  // namespace kw::catalog
