// The part of loading that all formats share: a Python file and a description of its inputs become
// a Task. Only the loaders use it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/entry.h"
#include "task/task.h"
#include "task_formats/load.h"

namespace kw::task_formats {

struct LoadRequest {
  std::string function;
  std::vector<frontend::GivenInput> inputs;
  task::Dims dims;
  std::vector<std::string> output_names;
  OtherReader other_reader = {};
  /// Called for every parameter without a description; may be empty.
  std::function<frontend::GivenInput(const std::string& parameter)> describe = {};
  bool spare_inputs = false;
  /// The shapes are listed, so an extent written as a number is fixed and does not become a dim.
  bool fixed_numbers = false;
  /// Stated by the task, for dims without a value.
  std::map<std::string, task::DimRange> ranges = {};
  LauncherParameters launcher = {};
  bool evaluation = false;
  std::function<bool()> has_gpu = {};
};

Result<task::Task> load_source(const std::string& text, const std::string& path,
                               const LoadRequest& request);
Result<std::vector<frontend::GivenInput>> parse_input_options(
    const std::vector<std::string>& texts);

}  // namespace kw::task_formats
