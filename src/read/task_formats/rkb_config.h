// Reads the configurations of a robust-kbench folder: six lists of a JSON file multiplied out, and
// their problems. It knows JSON only; load_rkb interprets the values.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::task_formats {

/// A problem of a task folder that the user should know about.
struct FolderProblem {
  std::string rule;  // "config-duplicate"
  std::string message;
  bool error = false;  // the folder cannot do what it claims; otherwise a warning
};

/// One combination: keyword arguments of Model() and of get_inputs().
struct RkbConfig {
  Json init, input;   // objects
  std::string where;  // "multi init 1, input 0, shared 2", counted from 0
};

struct RkbConfigs {
  std::vector<RkbConfig> timed;   // of the single_ lists
  std::vector<RkbConfig> tested;  // of the multi_ lists
};

/// Combines every init with every input and every shared config. The shared config is merged last
/// into both; equal combinations appear once. An input Error if the file does not have this format;
/// anything else unusual is a problem.
Result<RkbConfigs> parse_rkb_configs(const std::string& text, const std::string& file,
                                     std::vector<FolderProblem>* problems);

}  // namespace kw::task_formats
