// PTX allows C expressions over constants wherever a number may be written. The ISA defines them as
// 64-bit arithmetic, signed or unsigned by rules of its own. A precedence-climbing parser evaluates
// them while reading; no tree is built. Signed overflow is computed in unsigned arithmetic, so that
// no text causes undefined behaviour. Almost all constants are one literal, so parse_constant()
// tries that case first and rewinds if it fails. Nesting is limited to kMaxDepth. The cost: both
// operands of && and || are always evaluated, so a division by zero in either is refused.
#include "ptx/constant.h"

#include <bit>
#include <charconv>
#include <limits>

namespace kw::ptx {
namespace {

using ImmediateKind = Operand::ImmediateKind;
constexpr int kMaxDepth = 100;

bool parse_hex_bits(std::string_view text, size_t digits, uint64_t& bits) {
  if (text.size() != digits) return false;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

bool parse_integer(std::string_view text, Constant& value) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = text[1] == 'x' || text[1] == 'X' ? 16 : text[1] == 'b' || text[1] == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const bool suffix = !text.empty() && (text.back() == 'U' || text.back() == 'u');
  if (suffix) text.remove_suffix(1);
  if (text.empty()) return base == 8 && suffix;  // "0U"
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value.bits, base);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return false;
  value.is_unsigned = suffix || value.bits > uint64_t{std::numeric_limits<int64_t>::max()};
  return true;
}

struct Operator {
  const char* text;
  int precedence;
};
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10},
};

const Operator* find_operator(const Token& token) {
  if (token.kind != Token::Kind::Symbol) return nullptr;
  for (const Operator& op : kOperators) {
    if (token.text == op.text) return &op;
  }
  return nullptr;
}

class Expression {
 public:
  Expression(Lexer& lexer, std::string& why) : lexer_(lexer), why_(why) {}

  bool conditional(Constant& value) {
    if (++depth_ > kMaxDepth) return fail("constant expression is nested too deeply");
    if (!binary(1, value)) return false;
    if (lexer_.accept("?")) {
      Constant yes, no;
      if (!conditional(yes)) return false;
      if (!lexer_.accept(":")) return fail("expected ':' in a constant expression");
      if (!conditional(no)) return false;
      value = value.bits != 0 ? yes : no;
    }
    --depth_;
    return true;
  }

 private:
  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool binary(int lowest, Constant& value) {
    if (!unary(value)) return false;
    for (;;) {
      const Operator* op = find_operator(lexer_.peek());
      if (op == nullptr || op->precedence < lowest) return true;
      lexer_.next();
      Constant right;
      if (!binary(op->precedence + 1, right)) return false;
      if (!apply(op->text, value, right)) return false;
    }
  }

  bool unary(Constant& value) {
    if (++depth_ > kMaxDepth) return fail("constant expression is nested too deeply");
    const bool done = unary_inner(value);
    --depth_;
    return done;
  }

  bool unary_inner(Constant& value) {
    if (lexer_.accept("+")) return unary(value);
    if (lexer_.accept("-")) return unary(value) && negate(value);
    if (lexer_.accept("~")) return integer_unary(value, [](uint64_t bits) { return ~bits; });
    if (lexer_.accept("!")) {
      return integer_unary(value, [](uint64_t bits) { return uint64_t{bits == 0}; });
    }
    if (lexer_.accept("(")) return parenthesised(value);
    const Token token = lexer_.next();
    if (token.kind == Token::Kind::Name && token.text == "WARP_SZ") {
      value.bits = 32;
      return true;
    }
    if (token.kind != Token::Kind::Number) {
      return fail("expected a constant, found '" + std::string(token.text) + "'");
    }
    if (!parse_literal(token.text, value)) {
      return fail("'" + std::string(token.text) + "' is not a number PTX knows");
    }
    return true;
  }

  bool parenthesised(Constant& value) {
    if (lexer_.peek().kind == Token::Kind::Dotted) {
      const std::string_view cast = lexer_.next().text;
      if (cast != "s64" && cast != "u64") return fail("expected a cast (.s64) or (.u64)");
      if (!lexer_.accept(")")) return fail("expected ')' in a constant expression");
      if (!unary(value)) return false;
      value.is_unsigned = cast == "u64";
      return true;
    }
    if (!conditional(value)) return false;
    return lexer_.accept(")") || fail("expected ')' in a constant expression");
  }

  template <typename Fn>
  bool integer_unary(Constant& value, Fn fn) {
    if (!unary(value)) return false;
    if (value.kind != ImmediateKind::Integer)
      return fail("integer operator on a floating-point constant");
    value.bits = fn(value.bits);
    return true;
  }

  static bool negate(Constant& value) {
    if (value.kind == ImmediateKind::Integer) value.bits = 0 - value.bits;
    if (value.kind == ImmediateKind::Float32) value.bits ^= uint64_t{1} << 31;
    if (value.kind == ImmediateKind::Float64) value.bits ^= uint64_t{1} << 63;
    return true;
  }

  bool apply(std::string_view op, Constant& left, const Constant& right) {
    if (left.kind != ImmediateKind::Integer || right.kind != ImmediateKind::Integer) {
      return apply_float(op, left, right);
    }
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    const uint64_t a = left.bits, b = right.bits;
    const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
    const bool less = is_unsigned ? a < b : sa < sb;
    left.is_unsigned = is_unsigned;
    if (op == "+") left.bits = a + b;
    if (op == "-") left.bits = a - b;
    if (op == "*") left.bits = a * b;
    if (op == "&") left.bits = a & b;
    if (op == "|") left.bits = a | b;
    if (op == "^") left.bits = a ^ b;
    if (op == "<<") left.bits = b < 64 ? a << b : 0;
    if (op == ">>") left.bits = shift_right(a, b, is_unsigned);
    if (op == "==") left.bits = a == b;
    if (op == "!=") left.bits = a != b;
    if (op == "<") left.bits = less;
    if (op == ">=") left.bits = !less;
    if (op == ">") left.bits = a != b && !less;
    if (op == "<=") left.bits = a == b || less;
    if (op == "&&") left.bits = a != 0 && b != 0;
    if (op == "||") left.bits = a != 0 || b != 0;
    return op != "/" && op != "%" ? true : divide(op == "/", left, right);
  }

  static uint64_t shift_right(uint64_t a, uint64_t b, bool is_unsigned) {
    if (is_unsigned) return b < 64 ? a >> b : 0;
    return static_cast<uint64_t>(static_cast<int64_t>(a) >> (b < 64 ? b : 63));
  }

  bool divide(bool quotient, Constant& left, const Constant& right) {
    const uint64_t a = left.bits, b = right.bits;
    if (b == 0) return fail("division by zero in a constant expression");
    if (left.is_unsigned) {
      left.bits = quotient ? a / b : a % b;
    } else if (b == ~uint64_t{0}) {
      left.bits = quotient ? 0 - a : 0;
    } else {
      const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
      left.bits = static_cast<uint64_t>(quotient ? sa / sb : sa % sb);
    }
    return true;
  }

  bool apply_float(std::string_view op, Constant& left, const Constant& right) {
    const double a = left.as_double(), b = right.as_double();
    double result = 0;
    if (op == "+")
      result = a + b;
    else if (op == "-")
      result = a - b;
    else if (op == "*")
      result = a * b;
    else if (op == "/")
      result = a / b;
    else
      return fail("'" + std::string(op) + "' does not work on floating-point constants");
    left = {ImmediateKind::Float64, std::bit_cast<uint64_t>(result), false};
    return true;
  }

  Lexer& lexer_;
  std::string& why_;
  int depth_ = 0;
};

}  // namespace

double Constant::as_double() const {
  if (kind == ImmediateKind::Float64) return std::bit_cast<double>(bits);
  if (kind == ImmediateKind::Float32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<int64_t>(bits));
}

bool parse_literal(std::string_view text, Constant& value) {
  value = {};
  const char prefix = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (prefix == 'f' || prefix == 'F') {
    value.kind = ImmediateKind::Float32;
    return parse_hex_bits(text.substr(2), 8, value.bits);
  }
  if (prefix == 'd' || prefix == 'D') {
    value.kind = ImmediateKind::Float64;
    return parse_hex_bits(text.substr(2), 16, value.bits);
  }
  const bool is_hex = prefix == 'x' || prefix == 'X';
  if (is_hex || text.find_first_of(".eE") == std::string_view::npos)
    return parse_integer(text, value);
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  value = {ImmediateKind::Float64, std::bit_cast<uint64_t>(number), false};
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

bool at_constant(const Lexer& lexer) {
  const Token& token = lexer.peek();
  if (token.kind == Token::Kind::Number) return true;
  if (token.kind == Token::Kind::Name) return token.text == "WARP_SZ";
  return token.is("-") || token.is("+") || token.is("~") || token.is("(");
}

bool parse_constant(Lexer& lexer, Constant& value, std::string& why) {
  if (lexer.peek().kind == Token::Kind::Number) {
    // Most constants are one literal. The general path takes several times as long.
    const Lexer::Mark mark = lexer.mark();
    const Token token = lexer.next();
    const Token& after = lexer.peek();
    if ((after.is(",") || after.is(";") || after.is("]") || after.is("}")) &&
        parse_literal(token.text, value)) {
      return true;
    }
    lexer.rewind(mark);
  }
  return Expression(lexer, why).conditional(value);
}

}  // namespace kw::ptx
