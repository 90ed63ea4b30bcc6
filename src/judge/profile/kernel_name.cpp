#include <algorithm>
#include <cctype>

#include "core/text.h"
#include "profile/ncu.h"

namespace kw::profile {
namespace {

struct KernelName {
  std::string name;       // "ns::rms_norm"
  std::string arguments;  // "256,2" of a template; "" when there are none
};

/// The position after the bracket that closes the one at `open`, or npos.
size_t behind(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '<' || text[at] == '(') ++depth;
    if (text[at] == '>' || text[at] == ')') --depth;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// Removes casts in template arguments ("(int)256") and blanks: tools print them differently.
std::string plain_arguments(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool starts =
        at == 0 || text[at - 1] == ',' || text[at - 1] == ' ' || text[at - 1] == '<';
    if (text[at] == '(' && starts) {
      const size_t end = behind(text, at);
      if (end != std::string_view::npos && end < text.size()) {
        at = end - 1;
        continue;
      }
    }
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0) out += text[at];
  }
  return out;
}

KernelName split_name(std::string_view text) {
  std::string clean = replace_all(std::string(trim(text)), "(anonymous namespace)::", "");
  clean = replace_all(clean, "<unnamed>::", "");
  const std::string_view rest = clean;
  const size_t bracket = rest.find_first_of("<(");
  const std::string_view head = rest.substr(0, bracket);
  const size_t blank = trim(head).rfind(' ');  // "void rms_norm"
  KernelName found;
  found.name = std::string(trim(blank == std::string_view::npos ? head : trim(head).substr(blank)));
  if (bracket != std::string_view::npos && rest[bracket] == '<') {
    const size_t end = behind(rest, bracket);
    if (end != std::string_view::npos)
      found.arguments = plain_arguments(rest.substr(bracket + 1, end - bracket - 2));
  }
  return found;
}

}  // namespace

bool same_kernel(std::string_view profiled, std::string_view asked) {
  if (trim(profiled) == trim(asked)) return true;
  const KernelName there = split_name(profiled), wanted = split_name(asked);
  if (wanted.name.empty()) return false;
  const bool name = there.name == wanted.name || there.name.ends_with("::" + wanted.name);
  // One of the two names may be printed without arguments.
  return name && (there.arguments.empty() || wanted.arguments.empty() ||
                  there.arguments == wanted.arguments);
}

}  // namespace kw::profile
