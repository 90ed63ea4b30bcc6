#include "ptx/parse_context.h"

#include <fmt/core.h>

#include "ptx/constant.h"

namespace kw::ptx {

bool Context::fail(int line, const std::string& what) {
  constexpr size_t kMaxProblemBytes = 300;  // names may be as long as the text
  if (!stopped())
    problems.push_back(fmt::format("ptx line {}: {}{}", line, what.substr(0, kMaxProblemBytes),
                                   what.size() > kMaxProblemBytes ? "…" : ""));
  return false;
}

bool Context::fail_expected(const std::string& what) {
  const Token& token = lexer.peek();
  if (token.kind == Token::Kind::End)
    return fail(fmt::format("expected {}, found the end of the text", what));
  if (token.kind == Token::Kind::Bad) {
    const bool open = token.text.size() != 1;
    return fail(fmt::format("expected {}, found {}", what,
                            open ? "an unterminated comment or string" : "a byte that is not PTX"));
  }
  const char* dot = token.kind == Token::Kind::Dotted ? "." : "";
  return fail(fmt::format("expected {}, found '{}{}'", what, dot, token.text.substr(0, 60)));
}

bool Context::over_limit(const std::string& what) {
  fail(what);
  gave_up = true;
  return false;
}

bool Context::expect(std::string_view symbol) {
  if (lexer.accept(symbol)) return true;
  return fail_expected(fmt::format("'{}'", symbol));
}

bool Context::expect_name(std::string_view& name) {
  if (lexer.peek().kind != Token::Kind::Name) return fail_expected("a name");
  name = lexer.next().text;
  return true;
}

bool Context::expect_integer(int64_t lowest, int64_t highest, int64_t& value) {
  if (!at_constant(lexer)) return fail_expected("a number");
  const int line = lexer.peek().line;
  Constant constant;
  std::string why;
  if (!parse_constant(lexer, constant, why)) return fail(line, why);
  value = static_cast<int64_t>(constant.bits);
  const bool integer = constant.kind == Operand::ImmediateKind::Integer;
  const bool fits = !(constant.is_unsigned && value < 0) && value >= lowest && value <= highest;
  if (integer && fits) return true;
  return fail(line, fmt::format("expected an integer from {} to {}", lowest, highest));
}

bool Context::count_name() {
  if (++name_count <= kMaxNames) return true;
  return over_limit("more than 4 million labels, scopes and variables");
}

int Context::file_index(int64_t number) {
  if (module.files.empty()) module.files.emplace_back();
  const auto [row, is_new] = file_index_.emplace(number, static_cast<int>(module.files.size()));
  if (is_new) module.files.emplace_back();
  return row->second;
}

void Context::skip_statement() {
  int depth = 0;
  while (lexer.peek().kind != Token::Kind::End) {
    if (lexer.peek().is("}") && depth-- == 0) return;
    if (lexer.peek().is("{")) ++depth;
    if (lexer.next().is(";") && depth == 0) return;
  }
}

bool Context::skip_block() {
  const int line = lexer.peek().line;
  int depth = 0;
  while (lexer.peek().kind != Token::Kind::End) {
    const Token token = lexer.next();
    if (token.is("{")) ++depth;
    if (token.is("}") && --depth == 0) return true;
  }
  return fail(line, "'{' is never closed");
}

}  // namespace kw::ptx
