// The last step of every loader: makes a Task from an Entry whose arguments are known. It decides
// which ints are dims, gives them values, and traces once at each shape.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/trace.h"
#include "task/task.h"

namespace kw::frontend {

struct TaskDraft {
  TraceEntry entry;
  std::string format;  // as in Task::format
  task::Dims given;    // values from the user
  task::Dims file;     // ints at file level
  std::vector<std::string> notes;
  std::vector<task::ScalarSpec> defaults;  // default numbers of the reference
  std::vector<std::string> fixed;          // its other defaults: "scale=None"
  std::optional<double> atol, rtol;
  std::map<std::string, task::DimRange> ranges = {};  // that the task states
  bool fixed_numbers = false;  // extents written as numbers get no names
  std::function<bool()> has_gpu = {};  // asked only if dims must be assumed; empty: no GPU
};

/// The task. Dims have the user's values, otherwise the file's, otherwise assumed ones, with a
/// note.
Result<task::Task> make_task(TaskDraft draft);

/// The names in the shapes of the arguments.
std::set<std::string> names_of(const std::vector<Argument>& arguments);
/// Halves extents until none exceeds `largest`. Odd extents stay odd; with `distinct`, different
/// extents stay different if they can.
task::Dims shrunk(const task::Dims& dims, int64_t largest, bool distinct);
/// The file's name without its folder and extension.
std::string stem_of(const std::string& path);

}  // namespace kw::frontend
