// Loads our own format: a folder with task.toml, reference.py and prompt.txt. docs/references.md
// lists the keys.
#pragma once

#include <string>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

/// Whether a shape gives every dim of the task a value in its range, and the reference accepts it.
/// Errors start with `where`, the file the shape is from.
Status check_shape(const task::Task& task, const task::Dims& shape, const std::string& where);

/// `path` is the folder or its task.toml.
Result<task::Task> load_folder(const std::string& path, const LoadOptions& options);

}  // namespace kw::task_formats
