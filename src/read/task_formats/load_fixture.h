// The folders of cuda-engine's suites: prompt.txt, reference.py, shapes.yaml and notes.md. No file
// of theirs says dtypes or names of dims; docs/references.md has the rules by which both are found.
#pragma once

#include <string>

#include "core/result.h"
#include "task/task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

/// Whether the folder has all four files, and no task.toml, which would say more.
bool is_fixture(const std::string& folder);

Result<task::Task> load_fixture(const std::string& folder, const LoadOptions& options);

}  // namespace kw::task_formats
