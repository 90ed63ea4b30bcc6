#include "captive/merge.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "base/text.h"

namespace kw::captive {
namespace {

/// The name a declaration of one line ends with: "global_smem" of ".extern .shared …
/// global_smem[];".
std::string declared_name(std::string_view line) {
  const size_t end = line.find_first_of("[;=");
  std::string_view head = trim(line.substr(0, end));
  const size_t blank = head.find_last_of(" \t");
  return std::string(blank == std::string_view::npos ? head : head.substr(blank + 1));
}

}  // namespace

Result<std::string> merge_ptx(const std::vector<std::string>& texts) {
  std::string version, target, body;
  std::map<std::string, std::string> declared;
  for (const std::string& text : texts) {
    int depth = 0;
    for (const std::string_view line : split_lines(text)) {
      const std::string_view words = trim(line);
      const bool outside = depth == 0;
      for (const char c : words) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (outside && words.starts_with(".version")) {
        version = std::max(version, std::string(words));
        continue;
      }
      if (outside && words.starts_with(".target")) {
        if (!target.empty() && target != words)
          return input_error(fmt::format("kernels for '{}' and '{}'", target, words));
        target = words;
        continue;
      }
      if (outside && words.starts_with(".address_size")) continue;
      const bool variable = outside && words.ends_with(";") &&
                            (words.find(".shared") != std::string_view::npos ||
                             words.find(".global") != std::string_view::npos ||
                             words.find(".const") != std::string_view::npos);
      if (variable) {
        const auto [at, fresh] = declared.emplace(declared_name(words), std::string(words));
        if (!fresh && at->second != words)
          return input_error(fmt::format("two different variables '{}'", at->first));
        if (!fresh) continue;
      }
      body.append(line).append("\n");
    }
  }
  if (target.empty()) return input_error("there is no PTX");
  return fmt::format("{}\n{}\n.address_size 64\n{}", version, target, body);
}

}  // namespace kw::captive
