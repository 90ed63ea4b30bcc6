#include "kernel/inject.h"

#include <fmt/core.h>

#include <algorithm>

#include "cuda_source/source_lexer.h"
#include "kernel/cursor.h"

namespace kw::kernel {

namespace {

// nvcc defines these two without any include, so sources use them without one.
constexpr const char* kConstants =
    "#ifndef INFINITY\n#define INFINITY __builtin_bit_cast(float, 0x7f800000)\n#endif\n"
    "#ifndef NAN\n#define NAN __builtin_bit_cast(float, 0x7fffffff)\n#endif\n";

using Defines = std::vector<std::pair<std::string, int64_t>>;

std::string value_text(int64_t value) {
  return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

/// One line with its tunables replaced by numbers.
std::string with_numbers(std::string_view line, const Defines& defines) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = at;
    while (at < line.size() && is_identifier_part(line[at])) ++at;
    if (at == begin) {
      out += line[at++];
      continue;
    }
    const std::string_view word = line.substr(begin, at - begin);
    const auto known = std::ranges::find(defines, word, &Defines::value_type::first);
    out += known == defines.end() ? std::string(word) : value_text(known->second);
  }
  return out;
}

/// nvcc's preprocessor does not expand macros in pragmas, so "#pragma unroll VEC" would not know
/// VEC.
std::string with_plain_pragmas(std::string_view text, const Defines& defines) {
  constexpr std::string_view kUnroll = "#pragma unroll";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find(kUnroll, at), text.size());
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += text.substr(at, begin - at);
    out += with_numbers(text.substr(begin, end - begin), defines);
    at = end;
  }
  return out;
}

}  // namespace

InjectionPoint find_injection(std::string_view text) {
  const cuda_source::SourceText source = cuda_source::lex_source(text);
  InjectionPoint point;
  int depth = 0;
  bool include_inside = false;
  for (const cuda_source::Directive& directive : source.directives) {
    if (directive.name == "if" || directive.name == "ifdef" || directive.name == "ifndef") ++depth;
    if (directive.name == "endif" && depth > 0) --depth;
    const bool is_include = directive.name == "include";
    include_inside = include_inside || is_include;
    // Inside a conditional the defines might be skipped, so the point is after its end.
    if (include_inside && depth == 0 && (is_include || directive.name == "endif")) {
      point.offset = directive.end;
      point.has_include = true;
      include_inside = false;
    }
  }
  const std::string_view before = text.substr(0, point.offset);
  point.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  return point;
}

std::string inject_defines(std::string_view text,
                           const std::vector<std::pair<std::string, int64_t>>& defines,
                           bool hdrstop, std::string_view file_name) {
  const InjectionPoint point = find_injection(text);
  std::string out(text.substr(0, point.offset));
  if (!out.empty() && out.back() != '\n') out += '\n';
  if (hdrstop && point.has_include) out += "#pragma nv_hdrstop\n";
  out += kConstants;
  for (const auto& [name, value] : defines)
    out += fmt::format("#define {} {}\n", name, value_text(value));
  std::string quoted;
  for (const char c : file_name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  out += fmt::format("#line {} \"{}\"\n", point.line, quoted);
  out += with_plain_pragmas(text.substr(point.offset), defines);
  return out;
}

}  // namespace kw::kernel
