// task.toml as data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/spec_text.h"
#include "task/task.h"

namespace kw::task_formats {

struct TomlInput {
  frontend::TensorText tensor;
  task::Role role = task::Role::Input;
  bool optional = false, written = false;
};

struct TaskToml {
  std::string name, reference = "reference.py", function, prompt = "prompt.txt";
  std::map<std::string, TomlInput> inputs;
  std::map<std::string, task::ScalarSpec> scalars;
  std::vector<std::string> outputs;
  std::map<std::string, task::DimRange> dims;
  std::vector<task::Dims> correctness, benchmark;
  task::Precision precision;
  bool allow_tf32_given = false;
  bool backward = false;               // the task computes the reference's gradients …
  std::vector<std::string> gradients;  // … for these inputs; empty: for all
};

/// Errors look like "task.toml:7:3: unknown key 'dtyp' in [inputs.x] (did you mean 'dtype'?)".
Result<TaskToml> parse_task_toml(const std::string& text, const std::string& file_name);

}  // namespace kw::task_formats
