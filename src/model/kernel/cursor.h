// Reads one plan line from left to right and collects its problems. Used by the parser only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"

namespace kw::kernel {

bool is_identifier_start(char c);
bool is_identifier_part(char c);

class Cursor {
 public:
  /// Reads bytes [begin, end) of `line`, which is line `number` of the file.
  Cursor(std::string_view line, int number, size_t begin, size_t end,
         std::vector<cuda_source::Diagnostic>& diagnostics)
      : line_(line.substr(0, end)), number_(number), at_(begin), diagnostics_(diagnostics) {}

  int line() const { return number_; }
  /// The offset of the next character that is not blank.
  size_t position();
  /// The offset after the last text taken.
  size_t position_after() const { return at_; }
  int column() { return static_cast<int>(position()) + 1; }
  bool at_end() { return position() >= line_.size(); }
  char peek(size_t ahead = 0);
  std::string_view text(size_t begin, size_t end) const { return line_.substr(begin, end - begin); }
  /// The rest of the line, trimmed at both ends.
  std::string_view rest();
  void move_to(size_t position) { at_ = position; }

  /// Takes the given punctuation if it is next. "<" does not match the beginning of "<=".
  bool accept(std::string_view punctuation);
  /// Takes the given word if it is next as a whole word.
  bool accept_word(std::string_view word);
  /// The next identifier, without taking it; "" when no identifier is next.
  std::string_view peek_word();
  /// Takes an identifier; "" when no identifier is next.
  std::string_view take_word();
  /// Takes a run of characters from `allowed`, without skipping blanks inside.
  std::string_view take_run(std::string_view allowed);
  /// Takes an optionally signed integer. Reports a missing or too large integer; then it is not
  /// set.
  std::optional<int64_t> take_integer(std::string_view what);

  /// Reports at the next text (or the end of the line). Always returns false.
  bool fail(std::string message, std::string hint = "");
  /// Reports at a range of the line. Always returns false.
  bool fail_at(size_t begin, size_t end, std::string message, std::string hint = "");
  /// accept(), or reports "expected ',' …, found 'x'".
  bool expect(std::string_view punctuation, std::string_view after);
  /// The next text, for messages: "'foo'" or "the end of the line".
  std::string found();
  /// True at the end of the line; otherwise reports the extra text.
  bool expect_end(std::string_view hint);

 private:
  size_t token_end();

  std::string_view line_;
  int number_;
  size_t at_;
  std::vector<cuda_source::Diagnostic>& diagnostics_;
};

}  // namespace kw::kernel
