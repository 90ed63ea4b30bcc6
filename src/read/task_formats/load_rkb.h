// Reads task folders of robust-kbench: func_forward.py or func_backward.py with its config_*.json.
// Every configuration becomes a shape of a task, or a task of its own if it computes something
// else. No code of the folder is run.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"
#include "task_formats/rkb_config.h"

namespace kw::task_formats {

/// Whether the path is a robust-kbench folder, or the Python file of one direction inside it.
bool is_rkb(const std::string& path);

/// Whether the folder of `path`, or the folder that contains it, has a func_backward.py.
bool has_rkb_backward(const std::string& path);

struct RkbFolder {
  std::vector<task::Task> tasks;        // the first one is timed by default
  std::vector<FolderProblem> problems;  // of the folder and its configurations
};

/// All tasks of one direction: backward if the path names func_backward.py or the folder has only
/// that. An Error if no configuration can be read.
Result<RkbFolder> read_rkb(const std::string& path, const LoadOptions& options);

/// The task that is timed by default, or the variant that LoadOptions::function names. Problems
/// become notes.
Result<task::Task> load_rkb(const std::string& path, const LoadOptions& options);

}  // namespace kw::task_formats
