#include "catalog/catalog.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "kMethodsText.inc"

namespace kw::catalog {

static std::vector<Method> read_table() {
  std::vector<Method> methods;
  for (std::string_view line : split_lines(kMethodsText)) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = split(line, '|');
    KW_CHECK(cells.size() == 3, "a method line is 'id | axis | title': " + std::string(line));
    methods.push_back(
        {std::string(trim(cells[0])), std::string(trim(cells[1])), std::string(trim(cells[2]))});
  }
  return methods;
}

std::span<const Method> methods() {
  static const std::vector<Method> table = read_table();
  return table;
}

const Method* find(std::string_view id) {
  const auto all = methods();
  const auto at = std::ranges::find(all, id, &Method::id);
  return at == all.end() ? nullptr : &*at;
}

std::vector<std::string> ids() {
  std::vector<std::string> out;
  for (const Method& method : methods()) out.push_back(method.id);
  return out;
}

}  // namespace kw::catalog
