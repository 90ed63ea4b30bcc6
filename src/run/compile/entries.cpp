#include "compile/entries.h"

#include <fmt/core.h>

#include "core/text.h"

namespace kw::compile {
namespace {

constexpr std::string_view kVariable = "kw_entry_";

}  // namespace

std::string with_entries(std::string source, const std::vector<std::string>& kernels) {
  source += fmt::format("\n#line 1 \"{}\"\n", kEntriesFile);
  for (size_t i = 0; i < kernels.size(); ++i) {
    // `used`: clang removes an unused variable; nvcc keeps it anyway and ignores the attribute.
    source += fmt::format("__device__ __attribute__((used)) auto {}{} = &{};\n", kVariable, i,
                          kernels[i]);
  }
  return source;
}

bool take_entries(std::string* ptx, size_t count, std::vector<std::string>* entries) {
  entries->assign(count, "");
  std::string kept;
  kept.reserve(ptx->size());
  for (std::string_view line : split_lines(*ptx)) {
    const size_t at = line.find(kVariable);
    const size_t equals = at == std::string_view::npos ? at : line.find(" = ", at);
    if (equals == std::string_view::npos || line.find(".global") == std::string_view::npos) {
      kept.append(line).append("\n");
      continue;
    }
    const auto index =
        parse_int(line.substr(at + kVariable.size(), equals - at - kVariable.size()));
    std::string_view symbol = line.substr(equals + 3);
    symbol = trim(symbol.substr(0, symbol.find(';')));
    if (index && *index >= 0 && *index < static_cast<int64_t>(count))
      (*entries)[static_cast<size_t>(*index)] = symbol;
  }
  *ptx = std::move(kept);
  for (const std::string& entry : *entries) {
    if (entry.empty()) return false;
  }
  return true;
}

}  // namespace kw::compile
