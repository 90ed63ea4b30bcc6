// Formats text for the user: colours (terminals only), numbers, aligned tables. Returns strings and
// never prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw::report {

enum class Paint : uint8_t { Error, Warning, Good, Dim, Strong };

struct Style {
  bool colour = false;
};

/// The text in that colour; unchanged when the style has no colour.
std::string paint(const Style& style, Paint paint, std::string_view text);

/// 1234567 -> "1,234,567".
std::string with_commas(uint64_t value);
/// At most four significant digits, without exponent for common sizes: "0.001234", "12.5",
/// "1.2e-09", "inf", "nan".
std::string short_number(double value);
/// 1.0 of 3.0 -> "33.3 %"; "-" when the whole is 0.
std::string percent(double part, double whole);

/// Columns are as wide as their widest cell. A column whose title begins with '>' aligns right.
class Table {
 public:
  explicit Table(std::vector<std::string> titles) : titles_(std::move(titles)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// Every line is indented and has no trailing blanks.
  std::string text(const Style& style, int indent = 2) const;

 private:
  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kw::report
