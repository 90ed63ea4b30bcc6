// PTX may have up to 256 MB, so the lexer must be fast and must not copy. It produces one token at
// a time, as a view of the text. A table of character classes replaces chains of comparisons. An
// opcode with its modifiers is read as one piece, because splitting it into tokens takes longer
// than decoding it once. A list of all tokens would simplify lookahead, but would need more memory
// than the text; mark() and rewind() replace it. The cost: the text must outlive all tokens.
#include "ptx/lexer.h"

#include <algorithm>
#include <array>

namespace kw::ptx {
namespace {

enum CharClass : uint8_t { kBlank = 1, kNameStart = 2, kName = 4, kDigit = 8, kHex = 16 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[c] = kBlank;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 32] = kNameStart | kName;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kName | kDigit | kHex;
  for (int c = 'a'; c <= 'f'; ++c) {
    classes[c] |= kHex;
    classes[c - 32] |= kHex;
  }
  classes['_'] = classes['$'] = kNameStart | kName;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

bool is_class(char c, int mask) { return (kClasses[static_cast<unsigned char>(c)] & mask) != 0; }

bool is_operator_pair(char a, char b) {
  if (a == b) return a == '<' || a == '>' || a == '&' || a == '|' || a == '=' || a == '@';
  return b == '=' && (a == '!' || a == '<' || a == '>');
}

}  // namespace

void Lexer::rewind(const Mark& mark) {
  position_ = mark.position;
  line_ = mark.line;
  token_ = mark.token;
}

std::string_view Lexer::next_opcode() {
  const size_t start = static_cast<size_t>(token_.text.data() - text_.data());
  size_t end = start + token_.text.size();
  while (end + 1 < text_.size() && text_[end] == '.' && is_class(text_[end + 1], kName)) {
    end = dotted_end(end);
  }
  position_ = end;
  advance();
  return text_.substr(start, end - start);
}

bool Lexer::at_label() const {
  if (token_.kind != Token::Kind::Name) return false;
  size_t at = position_;
  while (at < text_.size() && is_class(text_[at], kBlank)) ++at;
  return at < text_.size() && text_[at] == ':';
}

bool Lexer::skip_blank() {
  const size_t size = text_.size();
  while (position_ < size) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (is_class(c, kBlank)) {
      ++position_;
    } else if (c == '/' && position_ + 1 < size && text_[position_ + 1] == '/') {
      position_ = std::min(text_.find('\n', position_), size);
    } else if (c == '/' && position_ + 1 < size && text_[position_ + 1] == '*') {
      const size_t close = text_.find("*/", position_ + 2);
      const size_t end = close == std::string_view::npos ? size : close + 2;
      for (; position_ < end; ++position_) line_ += text_[position_] == '\n';
      if (close == std::string_view::npos) return false;
    } else {
      return true;
    }
  }
  return true;
}

void Lexer::advance() {
  if (!skip_blank()) {
    token_ = {Token::Kind::Bad, "unterminated comment", line_};
    return;
  }
  const size_t start = position_, size = text_.size();
  if (start == size) {
    token_ = {Token::Kind::End, {}, line_};
    return;
  }
  const char c = text_[start], after = start + 1 < size ? text_[start + 1] : '\0';
  size_t begin = start, end = start + 1;
  Token::Kind kind = Token::Kind::Symbol;
  if (is_class(c, kNameStart) || (c == '%' && is_class(after, kNameStart))) {
    kind = Token::Kind::Name;
    while (end < size && is_class(text_[end], kName)) ++end;
  } else if (is_class(c, kDigit)) {
    kind = Token::Kind::Number;
    end = number_end(start);
  } else if (c == '.' && is_class(after, kName)) {
    kind = Token::Kind::Dotted;
    end = dotted_end(start);
    ++begin;
  } else if (c == '"') {
    end = string_end(start);
    kind = end == 0 ? Token::Kind::Bad : Token::Kind::String;
    if (end == 0) end = size;
    ++begin;
  } else if (is_operator_pair(c, after)) {
    end = start + 2;
  } else if (c < '!' || c > '~') {
    kind = Token::Kind::Bad;
  }
  const size_t stop = kind == Token::Kind::String ? end - 1 : end;
  token_ = {kind, text_.substr(begin, stop - begin), line_};
  position_ = end;
}

size_t Lexer::dotted_end(size_t at) const {
  const size_t size = text_.size();
  for (++at; at < size; ++at) {
    if (is_class(text_[at], kName)) continue;
    const bool qualified =
        text_[at] == ':' && at + 2 < size && text_[at + 1] == ':' && is_class(text_[at + 2], kName);
    if (!qualified) break;
    ++at;
  }
  return at;
}

size_t Lexer::number_end(size_t at) const {
  const size_t size = text_.size();
  const size_t start = at;
  while (at < size && is_class(text_[at], kName)) ++at;
  const char prefix = start + 1 < size && text_[start] == '0' ? text_[start + 1] : '\0';
  if (is_class(prefix, kNameStart) && prefix != 'e' && prefix != 'E')
    return at;  // 0x…, 0b…, 0f…, 0d…
  if (at < size && text_[at] == '.' && !(at + 1 < size && is_class(text_[at + 1], kNameStart))) {
    for (++at; at < size && is_class(text_[at], kName);) ++at;
  }
  const bool exponent = (text_[at - 1] == 'e' || text_[at - 1] == 'E') && at + 1 < size &&
                        (text_[at] == '+' || text_[at] == '-') && is_class(text_[at + 1], kDigit);
  if (exponent) {
    for (++at; at < size && is_class(text_[at], kDigit);) ++at;
  }
  return at;
}

size_t Lexer::string_end(size_t at) const {
  for (++at; at < text_.size() && text_[at] != '\n'; ++at) {
    if (text_[at] == '"') return at + 1;
    if (text_[at] == '\\' && at + 1 < text_.size() && text_[at + 1] != '\n') ++at;
  }
  return 0;
}

}  // namespace kw::ptx
