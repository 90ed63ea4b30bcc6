// Finds the tasks of a suite: a folder (ours with task.toml, KernelBench's with .py files) or a
// suite carried by this program. It finds and names tasks; the front end reads them.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace kw::task_formats {

struct SuiteTask {
  std::string name;  // unique in its suite, usable as a file name
  std::string path;  // a task folder or a Python file
  std::string hash;  // hash of its files' contents
};

struct Suite {
  std::string name;  // "internal", or the path as given
  std::vector<SuiteTask> tasks;
};

/// A suite that this program carries.
struct SuiteInfo {
  std::string name;
  size_t tasks = 0;
};
std::vector<SuiteInfo> carried_suites();
bool is_carried(const std::string& name);

/// Opens a suite by name or by path: a folder of tasks, searched recursively, or one task. The
/// tasks of a carried suite have paths below `folder`, where write_carried() puts them. The input
/// Error for an unknown name lists the known ones.
Result<Suite> open_suite(const std::string& name_or_path, const std::string& folder);
/// Writes a carried suite's files below `folder`, so that loaders can read them like any other.
Status write_carried(const std::string& name, const std::string& folder);

/// The tasks whose name is in `only`, a comma-separated list, or matches a shell pattern there; all
/// if "". The input Error names the entries that match no task.
Result<std::vector<SuiteTask>> select_tasks(const Suite& suite, const std::string& only);

}  // namespace kw::task_formats
