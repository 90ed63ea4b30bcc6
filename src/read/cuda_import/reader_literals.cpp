// Literals: the type follows from the suffix, the base and the value, as the standard lists it.
#include "cuda_import/reader_literals.h"

#include <fmt/core.h>

#include <charconv>
#include <set>

#include "core/text.h"

namespace kw::cuda_import {
namespace {

using Kind = HostValue::Kind;

HostValue real_literal(std::string text, const std::string& suffix,
                       const cuda_source::Token& token) {
  HostValue out;
  out.kind = Kind::Real;
  if (text.ends_with(".")) text += "0";
  if (text.starts_with(".")) text = "0" + text;
  const char* end = text.data() + text.size();
  float narrow = 0;
  const bool single = suffix == "f";
  const auto read = single ? std::from_chars(text.data(), end, narrow)
                           : std::from_chars(text.data(), end, out.real);
  if (read.ec != std::errc{} || read.ptr != end || (!single && !suffix.empty()))
    return unknown_value("'" + token.text + "' is not a number that is followed", token);
  if (single) out.real = static_cast<double>(narrow);
  out.width = single ? 32 : 64;
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return 99;
}

IntKind kind_of(int64_t value, int base, const std::string& suffix) {
  const bool wide = suffix.find_first_of("lz") != std::string::npos;
  const bool is_unsigned = suffix.find('u') != std::string::npos;
  if (!is_unsigned && !wide && value <= highest(IntKind::I32)) return IntKind::I32;
  if (!wide && (is_unsigned || base != 10) && value <= highest(IntKind::U32)) return IntKind::U32;
  return is_unsigned ? IntKind::U64 : IntKind::I64;
}

}  // namespace

HostValue literal(const cuda_source::Token& token) {
  static const std::set<std::string> kSuffixes = {"",    "u",   "l", "ul", "lu", "ll",
                                                  "ull", "llu", "z", "uz", "zu"};
  std::string text = lower_case(replace_all(token.text, "'", ""));
  const bool hex = text.starts_with("0x"), binary = text.starts_with("0b");
  const char* letters = hex ? "ulz" : "ulzf";
  const bool real = !hex && !binary && text.find_first_of(".e") != std::string::npos;
  const size_t end = text.find_first_of(letters);
  const std::string suffix = end == std::string::npos ? "" : text.substr(end);
  text = text.substr(0, end);
  if (real) return real_literal(text, suffix, token);
  const int base = hex ? 16 : binary ? 2 : text.size() > 1 && text[0] == '0' ? 8 : 10;
  int64_t value = 0;
  bool fine = kSuffixes.count(suffix) > 0;
  for (const char c : hex || binary ? text.substr(2) : text) {
    const int digit = digit_of(c);
    fine = fine && digit < base && !__builtin_mul_overflow(value, base, &value) &&
           !__builtin_add_overflow(value, digit, &value);
  }
  if (!fine) return unknown_value("'" + token.text + "' is not a number that fits 63 bits", token);
  return integer_value(number(value), kind_of(value, base, suffix));
}

}  // namespace kw::cuda_import
