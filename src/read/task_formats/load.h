// From what a user names, a Python file or a task folder, to a Task. docs/references.md describes
// the formats.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "task/task.h"

namespace kw::task_formats {

struct LoadRequest;  // load_source.h
/// Asked for the task when our own reader refuses a reference; gets what it said.
using OtherReader = std::function<Result<task::Task>(
    const std::string& text, const std::string& path, const LoadRequest& request, Error refused)>;

/// What a host launcher says about the parameters it shares with a flat reference.
struct LauncherParameters {
  std::map<std::string, tensor::DType> buffers;
  std::set<std::string> integers, reals;
};

struct LoadOptions {
  std::string function;             // --function: which one of the file
  std::vector<std::string> inputs;  // --input: "x:fp16[B,D]", "eps=1e-5"
  task::Dims dims;                  // --dims: instead of the file's own
  OtherReader other_reader = {};    // may be empty
  bool spare_inputs = false;        // an --input the reference has no parameter for is no error
  LauncherParameters launcher = {};
};

/// A .py file (a function, a KernelBench model, an optimizer-skill ref.py), a folder with a
/// task.toml, or that task.toml. The reference has been traced at every shape of the Task.
Result<task::Task> load_task(const std::string& path, const LoadOptions& options = {});

/// The same for the text of a Python file; `path` is for messages.
Result<task::Task> load_python(const std::string& text, const std::string& path,
                               const LoadOptions& options = {});

}  // namespace kw::task_formats
