// The source checks must see the same tokens as the compiler; otherwise code could hide from them.
// So this lexer follows the phases of C++: it removes line splices first, then finds comments,
// strings and tokens. It also handles digraphs and raw strings, because both can hide a directive.
// Each position in the spliced text maps back to the original, so that messages show the real
// place. A real compiler front end would be exact too, but it would open files and need a compiler.
// The cost: an extra copy of the text and one offset per character.
#include "cuda_source/source_lexer.h"

#include <algorithm>
#include <array>

namespace kw::cuda_source {

namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

constexpr size_t kMaxRawDelimiter = 16;
constexpr std::array<std::string_view, 4> kLongPunctuators = {"%:%:", "%:", "##", "::"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    remove_splices();
    find_lines();
  }

  SourceText run() {
    while (at_ < logical_.size()) step();
    collect_directives();
    return std::move(out_);
  }

 private:
  // Compilers disagree about blanks between the backslash and the line end. check_source() refuses
  // them.
  size_t splice_length(size_t at) const { return text_.substr(at).starts_with("\\\n") ? 2 : 0; }

  void remove_splices() {
    for (size_t i = 0; i < text_.size();) {
      if (const size_t skip = splice_length(i)) {
        i += skip;
        continue;
      }
      logical_.push_back(text_[i]);
      origin_.push_back(i++);
    }
    origin_.push_back(text_.size());
  }

  void find_lines() {
    line_starts_.push_back(0);
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') line_starts_.push_back(i + 1);
    }
  }

  char peek(size_t ahead = 0) const {
    return at_ + ahead < logical_.size() ? logical_[at_ + ahead] : '\0';
  }
  bool starts_with(std::string_view prefix) const {
    return std::string_view(logical_).substr(at_).starts_with(prefix);
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      fresh_line_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at_;
    } else if (starts_with("//") || starts_with("/*")) {
      comment();
    } else if (is_name_start(c)) {
      name_or_prefixed_literal();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      quoted(at_);
    } else {
      punctuator();
    }
  }

  void comment() {
    const size_t begin = at_;
    const bool block = peek(1) == '*';
    const size_t close = logical_.find(block ? "*/" : "\n", at_ + 2);
    at_ = close == std::string::npos ? logical_.size() : close + (block ? 2 : 0);
    emit(SourceKind::Comment, begin);
  }

  void name_or_prefixed_literal() {
    const size_t begin = at_;
    while (is_name_part(peek())) ++at_;
    const std::string_view name = std::string_view(logical_).substr(begin, at_ - begin);
    const bool raw = name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
    const bool prefix = name == "u8" || name == "u" || name == "U" || name == "L";
    if (raw && peek() == '"') return raw_string(begin);
    if (prefix && (peek() == '"' || peek() == '\'')) return quoted(begin);
    emit(SourceKind::Identifier, begin);
  }

  void number() {
    const size_t begin = at_;
    while (true) {
      const char c = peek();
      const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
      if (exponent && (peek(1) == '+' || peek(1) == '-')) {
        at_ += 2;
      } else if (is_name_part(c) || c == '.' || (c == '\'' && is_name_part(peek(1)))) {
        ++at_;
      } else {
        break;
      }
    }
    emit(SourceKind::Number, begin);
  }

  void quoted(size_t begin) {
    const char quote = peek();
    ++at_;
    while (at_ < logical_.size() && peek() != quote && peek() != '\n') {
      at_ += peek() == '\\' && at_ + 1 < logical_.size() && peek(1) != '\n' ? 2 : 1;
    }
    if (peek() == quote) ++at_;
    emit(quote == '"' ? SourceKind::String : SourceKind::Character, begin);
  }

  // Splices do not apply inside a raw string, so its end is searched in the original text.
  void raw_string(size_t begin) {
    const size_t quote = origin_[at_];
    const size_t open = quote + text_.substr(quote, kMaxRawDelimiter + 2).find('(');
    const bool valid = open > quote && open < text_.size() &&
                       text_.substr(quote + 1, open - quote - 1).find_first_of(" )\\\t\n\"") ==
                           std::string_view::npos;
    if (!valid) return quoted(begin);
    const std::string close = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t found = text_.find(close, open);
    const size_t end = found == std::string_view::npos ? text_.size() : found + close.size();
    at_ = static_cast<size_t>(std::ranges::lower_bound(origin_, end) - origin_.begin());
    at_ = std::min(at_, logical_.size());
    emit(SourceKind::String, begin);
    out_.tokens.back().text = std::string(text_.substr(origin_[begin], end - origin_[begin]));
  }

  void punctuator() {
    const size_t begin = at_;
    size_t length = 1;
    for (const std::string_view candidate : kLongPunctuators) {
      if (starts_with(candidate)) {
        length = candidate.size();
        break;
      }
    }
    at_ += length;
    emit(SourceKind::Punctuator, begin);
    std::string& text = out_.tokens.back().text;
    if (text == "%:") text = "#";
    if (text == "%:%:") text = "##";
  }

  void emit(SourceKind kind, size_t begin) {
    SourceToken token;
    token.kind = kind;
    token.text = logical_.substr(begin, at_ - begin);
    token.begin = origin_[begin];
    token.end = at_ > begin ? origin_[at_ - 1] + 1 : token.begin;
    const auto line = std::ranges::upper_bound(line_starts_, token.begin) - 1;
    token.line = static_cast<int>(line - line_starts_.begin()) + 1;
    token.column = static_cast<int>(token.begin - *line) + 1;
    token.alone_before = previous_end_ <= *line;
    previous_end_ = token.end;
    if (kind == SourceKind::Comment) {
      out_.comments.push_back(std::move(token));
      return;
    }
    token.first_on_line = fresh_line_;
    fresh_line_ = false;
    out_.tokens.push_back(std::move(token));
    logical_ends_.push_back(at_);
  }

  void collect_directives() {
    const std::vector<SourceToken>& tokens = out_.tokens;
    for (size_t i = 0; i < tokens.size();) {
      if (!tokens[i].first_on_line || tokens[i].text != "#") {
        ++i;
        continue;
      }
      Directive directive;
      directive.first = i++;
      while (i < tokens.size() && !tokens[i].first_on_line) ++i;
      directive.count = i - directive.first;
      if (directive.count > 1 && tokens[directive.first + 1].kind == SourceKind::Identifier) {
        directive.name = tokens[directive.first + 1].text;
      }
      directive.end = line_end(logical_ends_[i - 1]);
      out_.directives.push_back(std::move(directive));
    }
  }

  // The end of the logical line that holds position `at`. A block comment that starts on the line
  // does not end it.
  size_t line_end(size_t at) const {
    while (at < logical_.size() && logical_[at] != '\n') {
      if (logical_.compare(at, 2, "/*") == 0) {
        const size_t close = logical_.find("*/", at + 2);
        at = close == std::string::npos ? logical_.size() : close + 2;
      } else if (logical_.compare(at, 2, "//") == 0) {
        at = std::min(logical_.find('\n', at), logical_.size());
      } else {
        ++at;
      }
    }
    return at < logical_.size() ? origin_[at] + 1 : text_.size();
  }

  std::string_view text_;
  std::string logical_;         // text_ without splices
  std::vector<size_t> origin_;  // logical position -> original offset, plus the end
  std::vector<size_t> line_starts_;
  std::vector<size_t> logical_ends_;  // per token
  size_t at_ = 0;
  size_t previous_end_ = 0;  // end of the last token or comment, in the original text
  bool fresh_line_ = true;
  SourceText out_;
};

}  // namespace

SourceText lex_source(std::string_view text) { return Lexer(text).run(); }

}  // namespace kw::cuda_source
