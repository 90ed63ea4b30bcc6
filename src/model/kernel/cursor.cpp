#include "kernel/cursor.h"

#include <charconv>

#include "core/text.h"

namespace kw::kernel {

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_identifier_part(char c) { return is_identifier_start(c) || (c >= '0' && c <= '9'); }

size_t Cursor::position() {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r'))
    ++at_;
  return at_;
}

char Cursor::peek(size_t ahead) {
  const size_t at = position() + ahead;
  return at < line_.size() ? line_[at] : '\0';
}

std::string_view Cursor::rest() { return trim(line_.substr(std::min(position(), line_.size()))); }

bool Cursor::accept(std::string_view punctuation) {
  const std::string_view left = line_.substr(std::min(position(), line_.size()));
  if (!left.starts_with(punctuation)) return false;
  const char next = left.size() > punctuation.size() ? left[punctuation.size()] : '\0';
  const char last = punctuation.back();
  const bool longer = (next == '=' && (last == '<' || last == '>' || last == '!' || last == '=') &&
                       punctuation.size() == 1);
  if (longer) return false;
  at_ += punctuation.size();
  return true;
}

std::string_view Cursor::peek_word() {
  const size_t begin = position();
  if (begin >= line_.size() || !is_identifier_start(line_[begin])) return {};
  size_t end = begin;
  while (end < line_.size() && is_identifier_part(line_[end])) ++end;
  return line_.substr(begin, end - begin);
}

std::string_view Cursor::take_word() {
  const std::string_view word = peek_word();
  at_ += word.size();
  return word;
}

bool Cursor::accept_word(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

std::string_view Cursor::take_run(std::string_view allowed) {
  const size_t begin = position();
  if (begin >= line_.size()) return {};
  const size_t end = std::min(line_.find_first_not_of(allowed, begin), line_.size());
  at_ = end;
  return line_.substr(begin, end - begin);
}

std::optional<int64_t> Cursor::take_integer(std::string_view what) {
  const size_t begin = position();
  size_t end = begin;
  if (end < line_.size() && line_[end] == '-') ++end;
  const size_t digits = end;
  while (end < line_.size() && is_identifier_part(line_[end])) ++end;
  const std::string_view number = line_.substr(begin, end - begin);
  if (end == digits || line_[digits] < '0' || line_[digits] > '9') {
    fail("expected " + std::string(what) + ", found " + found());
    return std::nullopt;
  }
  const bool negative = number.front() == '-';
  std::string_view magnitude = line_.substr(digits, end - digits);
  const bool hex = magnitude.starts_with("0x") || magnitude.starts_with("0X");
  if (hex) magnitude.remove_prefix(2);
  uint64_t value = 0;
  const char* stop = magnitude.data() + magnitude.size();
  const auto [last, error] = std::from_chars(magnitude.data(), stop, value, hex ? 16 : 10);
  const uint64_t limit = uint64_t{1} << 63;
  if (error == std::errc::result_out_of_range ||
      (last == stop && value > limit - (negative ? 0 : 1))) {
    fail_at(begin, end, "'" + std::string(number) + "' does not fit 64 bits");
    return std::nullopt;
  }
  if (error != std::errc() || last != stop) {
    fail_at(begin, end, "'" + std::string(number) + "' is not an integer");
    return std::nullopt;
  }
  at_ = end;
  return negative ? static_cast<int64_t>(~value + 1) : static_cast<int64_t>(value);
}

size_t Cursor::token_end() {
  const size_t begin = position();
  size_t end = begin;
  while (end < line_.size() && is_identifier_part(line_[end])) ++end;
  if (end == begin && end < line_.size()) {
    ++end;
    while (end < line_.size() && (static_cast<unsigned char>(line_[end]) & 0xc0) == 0x80) ++end;
  }
  return end;
}

std::string Cursor::found() {
  const size_t begin = position(), end = token_end();
  if (begin >= line_.size()) return "the end of the line";
  return "'" + std::string(line_.substr(begin, end - begin)) + "'";
}

bool Cursor::fail(std::string message, std::string hint) {
  return fail_at(position(), token_end(), std::move(message), std::move(hint));
}

bool Cursor::fail_at(size_t begin, size_t end, std::string message, std::string hint) {
  diagnostics_.push_back({number_, static_cast<int>(begin) + 1,
                          end > begin ? static_cast<int>(end - begin) : 1, std::move(message),
                          std::move(hint)});
  return false;
}

bool Cursor::expect(std::string_view punctuation, std::string_view after) {
  if (accept(punctuation)) return true;
  return fail("expected '" + std::string(punctuation) + "' after " + std::string(after) +
              ", found " + found());
}

bool Cursor::expect_end(std::string_view hint) {
  if (at_end()) return true;
  return fail("unexpected " + found() + "; the line should end here", std::string(hint));
}

}  // namespace kw::kernel
