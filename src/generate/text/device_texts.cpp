#include "text/device_texts.h"

#include <algorithm>
#include <functional>

#include "core/text.h"

namespace kw::generate {

const DeviceText* find_text(std::span<const DeviceText> table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &DeviceText::name);
  return row == table.end() ? nullptr : &*row;
}

std::string texts_of(std::span<const DeviceText> table, const std::set<std::string>& names) {
  std::set<std::string, std::less<>> wanted(names.begin(), names.end());
  for (bool grew = true; grew;) {
    grew = false;
    for (const DeviceText& row : table) {
      if (!wanted.contains(row.name)) continue;
      for (const std::string& need : split(row.needs, ' '))
        grew = (!need.empty() && wanted.insert(need).second) || grew;
    }
  }
  std::string text;
  for (const DeviceText& row : table) {
    if (!wanted.contains(row.name)) continue;
    if (!text.empty()) text += "\n";
    text += row.text;
  }
  return text;
}

}  // namespace kw::generate
