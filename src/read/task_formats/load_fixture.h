// Loads the folders of cuda-engine's suites: prompt.txt, reference.py, shapes.yaml and notes.md.
// These files state neither dtypes nor names of dims; docs/references.md has the rules that find
// both.
#pragma once

#include <string>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

/// Whether the folder has all four files and no task.toml, which would take precedence.
bool is_fixture(const std::string& folder);

Result<task::Task> load_fixture(const std::string& folder, const LoadOptions& options);

}  // namespace kw::task_formats
