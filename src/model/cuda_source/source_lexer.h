// Splits device source into preprocessing tokens, after line splices, with digraphs and raw
// strings. It knows enough C++ to distinguish code, string, comment and directive, as a
// preprocessor does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw::cuda_source {

enum class SourceKind : uint8_t { Identifier, Number, String, Character, Punctuator, Comment };

struct SourceToken {
  SourceKind kind = SourceKind::Punctuator;
  std::string text;           // splices removed; the digraphs %: and %:%: spelled # and ##
  size_t begin = 0, end = 0;  // bytes of the original text
  int line = 1, column = 1;
  bool first_on_line = false;  // first token of its logical line, so a directive may start here
  bool alone_before = false;   // only blanks before it on its physical line
};

/// One preprocessing directive: its tokens from '#' to the end of its logical line, without
/// comments.
struct Directive {
  size_t first = 0, count = 0;  // range of SourceText::tokens
  size_t end = 0;               // offset after its newline, or the end of the text
  std::string name;             // "include", "pragma", …; "" for a lone '#' or a number
};

struct SourceText {
  std::vector<SourceToken> tokens;    // without comments
  std::vector<SourceToken> comments;  // in order
  std::vector<Directive> directives;
};

/// Never fails: a token that is unfinished at the end of the text ends there.
SourceText lex_source(std::string_view text);

}  // namespace kw::cuda_source
