// A suite: tasks found in a folder (ours with task.toml, KernelBench's with .py files) or carried
// by this program. Finds and names tasks; what is in them is the front end's business.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace kw::task_formats {

struct SuiteTask {
  std::string name;  // unique in its suite, fit to be a file's name
  std::string path;  // a task folder or a Python file
  std::string hash;  // of its files' contents
};

struct Suite {
  std::string name;  // "internal", or the path as given
  std::vector<SuiteTask> tasks;
};

/// A suite this program carries.
struct SuiteInfo {
  std::string name;
  size_t tasks = 0;
};
std::vector<SuiteInfo> carried_suites();
bool is_carried(const std::string& name);

/// By name, or a path: a folder of tasks, searched to the bottom, or one task. The tasks of a
/// carried suite have paths beneath `folder`, where write_carried() puts them. The input Error of
/// an unknown name lists those there are.
Result<Suite> open_suite(const std::string& name_or_path, const std::string& folder);
/// Writes a carried suite's files beneath `folder`, so that they are files like all others.
Status write_carried(const std::string& name, const std::string& folder);

/// Those whose name is one of `only`, commas between, or fits a shell pattern there; all for "".
/// The input Error names what fits nothing.
Result<std::vector<SuiteTask>> select_tasks(const Suite& suite, const std::string& only);

}  // namespace kw::task_formats
