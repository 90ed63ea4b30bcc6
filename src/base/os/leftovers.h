// Temporary files of write_file() that a killed process left.
#pragma once

#include <string>

namespace kw::os {

/// Removes them from the folder and the folders in it, except those named `except`, which have
/// locks of their own. The caller holds the folder's lock, so no other process writes there.
void remove_leftovers(const std::string& folder, const std::string& except = "");

}  // namespace kw::os
