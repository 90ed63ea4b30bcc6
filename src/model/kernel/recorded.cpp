#include "kernel/recorded.h"

#include <fmt/core.h>

#include <optional>

#include "core/text.h"
#include "kernel/line_reader.h"

namespace kw::kernel {
namespace {

constexpr const char* kParamForm =
    "a value is NAME, NAME+BYTES, or #HEX with a pointer at a place: #0000000000000000@0=x+16";
constexpr const char* kHexDigits = "0123456789abcdef";

std::string pointer_text(const RecordedParam::Pointer& pointer) {
  return pointer.add == 0 ? pointer.tensor : fmt::format("{}{:+}", pointer.tensor, pointer.add);
}

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

}  // namespace

std::string recorded_from(std::string_view text) {
  for (size_t at = text.find("//!"); at != std::string_view::npos; at = text.find("//!", at + 1)) {
    const std::string_view line = trim(text.substr(at + 3, text.find('\n', at) - at - 3));
    if (line.starts_with("recorded ")) return std::string(trim(line.substr(9)));
  }
  return "";
}

bool is_recorded(std::string_view text) { return !recorded_from(text).empty(); }

std::string recorded_ptx(std::string_view text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    if (!trim(line).starts_with("//!")) out.append(line).append("\n");
  }
  return out;
}

std::string param_text(const RecordedParam& param) {
  if (param.bytes.size() == 8 && param.pointers.size() == 1) return pointer_text(param.pointers[0]);
  std::string text = "#";
  for (const uint8_t byte : param.bytes) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  for (const RecordedParam::Pointer& pointer : param.pointers)
    text += fmt::format("@{}={}", pointer.at, pointer_text(pointer));
  return text;
}

bool LineReader::recorded() {
  if (!draft_.module.recorded.empty()) return cursor_.fail("'recorded' is given twice");
  draft_.module.recorded = std::string(cursor_.rest());
  if (draft_.module.recorded.empty())
    return cursor_.fail("expected where the launches were recorded",
                        "the form is 'recorded FILE, launcher NAME'");
  return true;
}

bool LineReader::recorded_params(LaunchDecl& decl) {
  if (!cursor_.expect("(", "'params'")) return false;
  if (cursor_.accept(")")) return true;
  do {
    if (!recorded_param(decl.params.emplace_back())) return false;
  } while (cursor_.accept(","));
  return cursor_.expect(")", "the values");
}

bool LineReader::recorded_param(RecordedParam& param) {
  if (!cursor_.accept("#")) {
    param.bytes.assign(8, 0);
    return recorded_pointer(0, param);
  }
  const std::string_view hex = cursor_.peek() == '@' ? "" : cursor_.take_run(kHexDigits);
  if (hex.size() % 2 != 0) return cursor_.fail("an odd number of hexadecimal digits", kParamForm);
  for (size_t i = 0; i < hex.size(); i += 2)
    param.bytes.push_back(static_cast<uint8_t>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  while (cursor_.accept("@")) {
    const std::optional<int64_t> at = cursor_.take_integer("a place");
    if (!at) return false;
    if (*at < 0 || *at + 8 > static_cast<int64_t>(param.bytes.size()))
      return cursor_.fail(fmt::format("a pointer at byte {} of {}", *at, param.bytes.size()),
                          kParamForm);
    if (!cursor_.expect("=", "the place")) return false;
    if (!recorded_pointer(static_cast<uint32_t>(*at), param)) return false;
  }
  return true;
}

bool LineReader::recorded_pointer(uint32_t at, RecordedParam& param) {
  RecordedParam::Pointer pointer;
  pointer.at = at;
  pointer.tensor = std::string(cursor_.take_word());
  if (pointer.tensor.empty())
    return cursor_.fail("expected a tensor or '#', found " + cursor_.found(), kParamForm);
  const bool plus = cursor_.accept("+");
  if (plus || cursor_.peek() == '-') {
    const std::optional<int64_t> add = cursor_.take_integer("a number of bytes");
    if (!add) return false;
    pointer.add = *add;
  }
  param.pointers.push_back(std::move(pointer));
  return true;
}

}  // namespace kw::kernel
