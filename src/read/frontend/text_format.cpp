// References build names of attributes and messages with Python's text formatting. A name must
// match exactly ("layer03"), so the result must be Python's. One function formats a value by a
// spec; the two older forms, % and {}, are translated to it. fmt's own formatting is close but not
// equal: Python writes 2.0 for a whole float, and aligns numbers and words differently. Supported
// are the parts of a spec that references use; a width is at most kMaxWidth.
#include "frontend/text_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/text.h"
#include "frontend/numbers.h"

namespace kw::frontend {
namespace {

constexpr size_t kMaxWidth = 256;

bool among(std::string_view types, char type) { return types.find(type) != std::string_view::npos; }

struct Spec {
  std::string fill = " ";
  char align = 0, sign = '-', type = 0;
  bool grouped = false;
  size_t width = 0;
  std::optional<size_t> precision;
};

size_t take_number(std::string_view& text) {
  size_t number = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    number = std::min(kMaxWidth, number * 10 + static_cast<size_t>(text[0] - '0'));
    text.remove_prefix(1);
  }
  return number;
}

Result<Spec> parse_spec(std::string_view text) {
  const std::string_view whole = text;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  const auto take = [&](char c) {
    const bool there = !text.empty() && text[0] == c;
    if (there) text.remove_prefix(1);
    return there;
  };
  Spec spec;
  if (text.size() > 1 && is_align(text[1])) {
    spec.fill = text.substr(0, 1);
    text.remove_prefix(1);
  }
  if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() && (text[0] == '+' || text[0] == ' ' || text[0] == '-')) {
    spec.sign = text[0];
    text.remove_prefix(1);
  }
  if (take('0') && spec.align == 0) {
    spec.fill = "0";
    spec.align = '=';
  }
  spec.width = take_number(text);
  spec.grouped = take(',');
  if (take('.')) spec.precision = take_number(text);
  if (!text.empty()) {
    spec.type = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() || (spec.type && !among("dsxXobeEfFgG%", spec.type)))
    return input_error("the format '{}' is not supported", whole);
  return spec;
}

std::string python_float(double number) {
  std::string text = fmt::format("{}", number);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string with_commas(std::string digits) {
  const size_t end = std::min(digits.find('.'), digits.size());
  for (size_t i = end; i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

Result<std::string> digits_of(const Value& value, const Spec& spec) {
  const auto integer = as_dim(value);
  const auto number = as_number(value);
  const bool whole = integer && (spec.type == 0 || among("dxXob", spec.type));
  if (whole) {
    const uint64_t size = integer->value() < 0
                              ? uint64_t{0} - static_cast<uint64_t>(integer->value())
                              : static_cast<uint64_t>(integer->value());
    switch (spec.type) {
      case 'x':
        return fmt::format("{:x}", size);
      case 'X':
        return fmt::format("{:X}", size);
      case 'o':
        return fmt::format("{:o}", size);
      case 'b':
        return fmt::format("{:b}", size);
      default:
        return fmt::format("{}", size);
    }
  }
  if (!number || among("dxXob", spec.type == 0 ? 'g' : spec.type))
    return input_error("unknown format code '{}' for a {}", spec.type, type_name(value));
  const double size = *number < 0 ? -*number : *number;
  const int precision = static_cast<int>(spec.precision.value_or(6));
  switch (spec.type) {
    case 'e':
      return fmt::format("{:.{}e}", size, precision);
    case 'E':
      return fmt::format("{:.{}E}", size, precision);
    case 'f':
    case 'F':
      return fmt::format("{:.{}f}", size, precision);
    case '%':
      return fmt::format("{:.{}f}%", size * 100, precision);
    case 'G':
      return fmt::format("{:.{}G}", size, precision);
    case 'g':
      return fmt::format("{:.{}g}", size, precision);
    default:
      return spec.precision ? fmt::format("{:.{}g}", size, precision) : python_float(size);
  }
}

std::string padded(std::string sign, std::string text, const Spec& spec, char usual) {
  const char align = spec.align ? spec.align : usual;
  const size_t length = sign.size() + text.size();
  const size_t missing = spec.width > length ? spec.width - length : 0;
  const size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string left, right;
  for (size_t i = 0; i < before; ++i) left += spec.fill;
  for (size_t i = before; i < missing; ++i) right += spec.fill;
  return align == '=' ? sign + left + text + right : left + sign + text + right;
}

std::string plain(const Value& value) {
  const auto* number = value.get<Float>();
  return number ? python_float(number->shown()) : to_text(value);
}

}  // namespace

Result<std::string> formatted(const Value& value, std::string_view text) {
  if (text.empty()) return plain(value);
  const Spec spec = KW_TRY(parse_spec(text));
  const bool words = value.get<std::string>() || !is_number(value);
  if (words || spec.type == 's') {
    std::string word = plain(value);
    if (spec.precision) word = word.substr(0, *spec.precision);
    return padded("", std::move(word), spec, '<');
  }
  std::string digits = KW_TRY(digits_of(value, spec));
  if (spec.grouped) digits = with_commas(std::move(digits));
  const bool negative = *as_number(value) < 0;
  const std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  return padded(sign, std::move(digits), spec, '>');
}

Result<std::string> percent_format(std::string_view text, const Value& values) {
  const auto* tuple = values.get<std::shared_ptr<Tuple>>();
  const std::vector<Value> given = tuple ? *items_of(values) : std::vector<Value>{values};
  std::string result;
  size_t next = 0;
  while (!text.empty()) {
    const size_t percent = std::min(text.find('%'), text.size());
    result += text.substr(0, percent);
    text.remove_prefix(percent);
    if (text.empty()) break;
    const size_t kind = text.find_first_not_of("+- 0123456789.", 1);
    if (kind == std::string_view::npos) return input_error("incomplete format");
    std::string spec(text.substr(1, kind - 1));
    const char type = text[kind] == 'i' ? 'd' : text[kind];
    text.remove_prefix(kind + 1);
    if (type == '%') {
      result += '%';
      continue;
    }
    if (!among("dsrxXoeEfFgG", type)) return input_error("the format '%{}' is not supported", type);
    if (next >= given.size()) return input_error("not enough arguments for format string");
    const bool word = type == 's' || type == 'r';
    if (!spec.empty() && spec[0] == '-') spec[0] = '<';
    if (word && !spec.empty() && spec[0] != '<' && spec[0] != '.') spec.insert(0, ">");
    const Value& value = given[next++];
    const bool cut = type == 'd' && value.get<Float>();  // %d drops the fraction
    const Value whole = cut ? Value(graph::Dim(static_cast<int64_t>(*value.get<Float>()))) : value;
    result += KW_TRY(formatted(whole, spec + (word ? 's' : type)));
  }
  if (tuple && next < given.size())
    return input_error("not all arguments converted during string formatting");
  return result;
}

Result<std::string> brace_format(std::string_view text, const std::vector<Value>& positional,
                                 const std::vector<std::pair<std::string, Value>>& keywords) {
  std::string result;
  size_t next = 0;
  while (!text.empty()) {
    const char c = text[0];
    if (c != '{' && c != '}') {
      result += c;
      text.remove_prefix(1);
      continue;
    }
    if (text.size() > 1 && text[1] == c) {
      result += c;
      text.remove_prefix(2);
      continue;
    }
    const size_t end = text.find('}');
    if (c == '}' || end == std::string_view::npos)
      return input_error("a single brace in a format string");
    const std::string_view field = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    const size_t colon = std::min(field.find(':'), field.size());
    std::string_view name = field.substr(0, colon);
    if (name.ends_with("!s") || name.ends_with("!r")) name.remove_suffix(2);
    const auto place = name.empty() ? std::optional<int64_t>(next++) : parse_int(name);
    const auto keyword = std::find_if(keywords.begin(), keywords.end(),
                                      [&](const auto& one) { return one.first == name; });
    const bool placed = place && *place >= 0 && static_cast<size_t>(*place) < positional.size();
    if (!placed && keyword == keywords.end())
      return input_error("format(): there is no value for '{{{}}}'", field);
    const Value& value = placed ? positional[static_cast<size_t>(*place)] : keyword->second;
    const std::string_view spec = colon < field.size() ? field.substr(colon + 1) : "";
    result += KW_TRY(formatted(value, spec));
  }
  return result;
}

}  // namespace kw::frontend
