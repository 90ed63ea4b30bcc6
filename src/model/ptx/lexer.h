// Splits PTX text into tokens, one at a time. Knows no grammar. Comments are skipped here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kw::ptx {

struct Token {
  enum class Kind : uint8_t {
    End,
    Name,    // identifier, also with a leading % or $
    Dotted,  // ".name", without the dot: directive, modifier or component
    Number,  // any integer or floating-point literal
    String,  // text between the quotes
    Symbol,  // punctuation; an operator of two characters is one token
    Bad,     // bytes that cannot start a token
  };
  Kind kind = Kind::End;
  std::string_view text;
  int line = 1;

  bool is(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token next() {
    Token token = token_;
    advance();
    return token;
  }
  /// Takes the next token and returns true if it is this symbol.
  bool accept(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    advance();
    return true;
  }
  /// Takes the next token, a Name, with the modifiers attached to it ("ld.global.f32").
  std::string_view next_opcode();
  /// True when the next token is a Name followed by ':'.
  bool at_label() const;

  /// A position to return to.
  struct Mark {
    size_t position = 0;
    int line = 1;
    Token token;
  };
  Mark mark() const { return {position_, line_, token_}; }
  void rewind(const Mark& mark);

 private:
  void advance();
  bool skip_blank();  // false: the text ended inside a comment
  size_t dotted_end(size_t at) const;
  size_t number_end(size_t at) const;
  size_t string_end(size_t at) const;

  std::string_view text_;
  size_t position_ = 0;  // after token_
  int line_ = 1;
  Token token_;
};

}  // namespace kw::ptx
