// Host code as tokens, with operators joined and the macros of the file expanded. Its input is the
// output of source_lexer.
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
  bool joined = false;  // directly after the previous token

  bool is(std::string_view what) const { return text == what; }
  bool identifier() const { return kind == SourceKind::Identifier; }
};

/// All tokens outside directives. Operators are joined, but '>' is never joined with the next
/// token, because it may close template arguments.
std::vector<Token> code_tokens(const SourceText& source);

struct Macro {
  bool function = false;
  std::vector<std::string> parameters;  // a final "..." takes the rest
  std::vector<Token> body;
  bool ambiguous = false;  // defined more than once with different bodies
};

/// Every #define of the file, by name.
std::map<std::string, Macro> find_macros(const SourceText& source);

/// The range with macros expanded. Tokens of a macro have the place where it is used. Not set when
/// the expansion exceeds the limits.
std::optional<std::vector<Token>> expand(const std::vector<Token>& tokens, size_t first,
                                         size_t last, const std::map<std::string, Macro>& macros);

/// The index after the bracket that closes the one at `at`, or `last`.
size_t behind_bracket(const std::vector<Token>& tokens, size_t at, size_t last);
/// The same for template arguments that open at `at`; `at` itself when they are not closed.
size_t behind_angles(const std::vector<Token>& tokens, size_t at, size_t last);

}  // namespace kw::cuda_source
