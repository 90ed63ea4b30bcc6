// Host code as tokens: operators joined, macros of the file expanded. Reads what kernel's lexer
// cut.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda_source/source_lexer.h"

namespace kw::cuda_source {

struct Token {
  SourceKind kind = SourceKind::Punctuator;
  std::string text;
  size_t begin = 0, end = 0;  // bytes of the file
  int line = 1, column = 1;
  bool joined = false;  // nothing between it and the token before

  bool is(std::string_view what) const { return text == what; }
  bool identifier() const { return kind == SourceKind::Identifier; }
};

/// Everything outside directives. Operators are joined, but '>' never with what follows: it may
/// close template arguments.
std::vector<Token> code_tokens(const SourceText& source);

struct Macro {
  bool function = false;
  std::vector<std::string> parameters;  // a last "..." takes the rest
  std::vector<Token> body;
  bool ambiguous = false;  // defined more than once, differently
};

/// By name; the value of every #define of the file.
std::map<std::string, Macro> find_macros(const SourceText& source);

/// The range with macros expanded; tokens of a macro have the place where it is used. Nothing when
/// it grows beyond all bounds.
std::optional<std::vector<Token>> expand(const std::vector<Token>& tokens, size_t first,
                                         size_t last, const std::map<std::string, Macro>& macros);

/// The index behind the bracket that closes the one at `at`, or `last`.
size_t behind_bracket(const std::vector<Token>& tokens, size_t at, size_t last);
/// The same for template arguments that open at `at`; `at` itself when nothing closes them.
size_t behind_angles(const std::vector<Token>& tokens, size_t at, size_t last);

}  // namespace kw::cuda_source
