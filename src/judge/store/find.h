// Finds the run that a user names.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace kw::store {

/// The folders under a root that are runs, newest first.
std::vector<std::string> run_folders(const std::string& root);

/// The folder of a run, named by its path, its id, a unique start of its id, or "latest". The input
/// Error lists the runs that match.
Result<std::string> find_run(const std::string& root, const std::string& name);

}  // namespace kw::store
