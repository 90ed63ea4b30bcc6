// The configurations of a robust-kbench folder: six lists of a JSON file multiplied out, and what
// is odd about them. Knows JSON only; what the values mean is load_rkb's business.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::task_formats {

/// Something about a task folder that its reader should know.
struct FolderProblem {
  std::string rule;  // "config-duplicate"
  std::string message;
  bool error = false;  // the folder cannot do what it claims; else it does less
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

/// Every init with every input with every shared config, the shared one merged last into both;
/// equal ones once. An input Error for what is no such file; what is merely odd is a problem.
Result<RkbConfigs> parse_rkb_configs(const std::string& text, const std::string& file,
                                     std::vector<FolderProblem>* problems);

}  // namespace kw::task_formats
