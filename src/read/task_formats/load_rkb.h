// Task folders of robust-kbench as they are: func_forward.py or func_backward.py with its
// config_*.json. Every configuration becomes a shape of a task; those that compute something else
// become tasks of their own. Nothing of the folder is run.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"
#include "task_formats/rkb_config.h"

namespace kw::task_formats {

/// Whether the path is such a folder, or the Python file of one direction inside it.
bool is_rkb(const std::string& path);

/// Whether the folder it is, or that the file is in, has a func_backward.py of its own.
bool has_rkb_backward(const std::string& path);

struct RkbFolder {
  std::vector<task::Task> tasks;        // the first is the one timed by default
  std::vector<FolderProblem> problems;  // of the folder and its configurations
};

/// All of one direction: backward when the path names func_backward.py, or there is no other. An
/// Error when no configuration can be read.
Result<RkbFolder> read_rkb(const std::string& path, const LoadOptions& options);

/// The task that is timed by default, or the variant named by LoadOptions::function; problems
/// become notes.
Result<task::Task> load_rkb(const std::string& path, const LoadOptions& options);

}  // namespace kw::task_formats
