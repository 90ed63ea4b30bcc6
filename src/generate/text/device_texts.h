// Tables of device functions as texts, each with the names of those it calls. Internal to this
// module.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kw::generate {

struct DeviceText {
  std::string_view name;
  std::string_view needs;  // names of rows, separated by blanks
  std::string_view text;
};

/// The row of that name, or nullptr.
const DeviceText* find_text(std::span<const DeviceText> table, std::string_view name);

/// The texts of these rows and of all that they need, in the order of the table. Names that are not
/// in the table are ignored.
std::string texts_of(std::span<const DeviceText> table, const std::set<std::string>& names);

}  // namespace kw::generate
