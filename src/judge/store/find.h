// Which run is meant by what a person types.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace kw::store {

/// Folders under a root that are runs, newest first.
std::vector<std::string> run_folders(const std::string& root);

/// The folder of a run named by its path, its id, the beginning of its id if that is enough, or
/// "latest". Input Error that lists what could be meant.
Result<std::string> find_run(const std::string& root, const std::string& name);

}  // namespace kw::store
