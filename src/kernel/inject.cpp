#include "kernel/inject.h"

#include <fmt/core.h>

#include <algorithm>

#include "kernel/source_lexer.h"

namespace kw::kernel {

namespace {

// nvcc knows these two without any include, so sources use them so.
constexpr const char* kConstants =
    "#ifndef INFINITY\n#define INFINITY __builtin_bit_cast(float, 0x7f800000)\n#endif\n"
    "#ifndef NAN\n#define NAN __builtin_bit_cast(float, 0x7fffffff)\n#endif\n";

}  // namespace

InjectionPoint find_injection(std::string_view text) {
  const SourceText source = lex_source(text);
  InjectionPoint point;
  int depth = 0;
  bool include_inside = false;
  for (const Directive& directive : source.directives) {
    if (directive.name == "if" || directive.name == "ifdef" || directive.name == "ifndef") ++depth;
    if (directive.name == "endif" && depth > 0) --depth;
    const bool is_include = directive.name == "include";
    include_inside = include_inside || is_include;
    // Inside a conditional the defines might be skipped: wait for its end.
    if (include_inside && depth == 0 && (is_include || directive.name == "endif")) {
      point.offset = directive.end;
      point.has_include = true;
      include_inside = false;
    }
  }
  const std::string_view before = text.substr(0, point.offset);
  point.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
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
  for (const auto& [name, value] : defines) {
    out += value < 0 ? fmt::format("#define {} ({})\n", name, value)
                     : fmt::format("#define {} {}\n", name, value);
  }
  std::string quoted;
  for (const char c : file_name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  out += fmt::format("#line {} \"{}\"\n", point.line, quoted);
  out += text.substr(point.offset);
  return out;
}

}  // namespace kw::kernel
