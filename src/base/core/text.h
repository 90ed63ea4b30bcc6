// Small text functions that several modules need: trimming, splitting, joining, suggesting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

std::string_view trim(std::string_view text);
/// Every piece between separators, including empty ones. "" gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
/// Lines without their '\n' (and without a '\r' before it). A final newline starts no new line.
std::vector<std::string_view> split_lines(std::string_view text);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);
/// Only the letters of ASCII change.
std::string lower_case(std::string_view text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// The whole text as a decimal number; not set otherwise. Blanks and a leading '+' are refused.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);

/// The candidate nearest to `word` by edit distance, or "" when none is near enough for a typo.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);
/// " (did you mean 'x'?)" for closest(), or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// 1536 -> "1.5 KiB".
std::string human_bytes(uint64_t bytes);
/// Quotes a word for a POSIX shell when it needs quotes: "fp16" -> "fp16", "a b" -> "'a b'".
std::string shell_quote(std::string_view word);
/// Makes foreign text (sources, compiler output, printf of kernels) safe to show. Control bytes
/// except newline and tab become '?'. Bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

}  // namespace kw
