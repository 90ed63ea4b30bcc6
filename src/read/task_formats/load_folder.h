// Our own format: a folder with task.toml, reference.py and prompt.txt. docs/references.md has the
// keys.
#pragma once

#include <string>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

/// Whether a shape gives every dim of the task a value in its range, and the reference takes it;
/// `where` says whose shape it is.
Status check_shape(const task::Task& task, const task::Dims& shape, const std::string& where);

/// `path`: the folder, or its task.toml.
Result<task::Task> load_folder(const std::string& path, const LoadOptions& options);

}  // namespace kw::task_formats
