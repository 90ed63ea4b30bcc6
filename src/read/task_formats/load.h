// Loads a Task from the path a user names: a Python file or a task folder. docs/references.md
// describes the formats.
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
/// Called when our own reader refuses a reference; `refused` is the reader's error.
using OtherReader = std::function<Result<task::Task>(
    const std::string& text, const std::string& path, const LoadRequest& request, Error refused)>;

/// What a host launcher tells about the parameters it shares with a flat reference.
struct LauncherParameters {
  std::map<std::string, tensor::DType> buffers;
  std::set<std::string> integers, reals;
};

struct LoadOptions {
  std::string function;             // --function: the function of the file to load
  std::vector<std::string> inputs;  // --input: "x:fp16[B,D]", "eps=1e-5"
  task::Dims dims;                  // --dims: replace the dims of the file
  OtherReader other_reader = {};    // may be empty
  bool spare_inputs = false;        // allow an --input without a parameter in the reference
  LauncherParameters launcher = {};
  bool evaluation = false;             // --mode eval: modules are in eval mode
  std::function<bool()> has_gpu = {};  // asked only if dims must be assumed; empty: no GPU
};

/// `path` is a .py file (a function, a KernelBench model, an optimizer-skill ref.py), a folder with
/// a task.toml, or that task.toml. The loader has traced the reference at every shape of the Task.
Result<task::Task> load_task(const std::string& path, const LoadOptions& options = {});

/// The same for the text of a Python file; messages name `path`.
Result<task::Task> load_python(const std::string& text, const std::string& path,
                               const LoadOptions& options = {});

}  // namespace kw::task_formats
