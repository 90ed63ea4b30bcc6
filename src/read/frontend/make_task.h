// The last step of every loader: an Entry whose arguments are settled becomes a Task. Decides which
// ints are dims, gives them values, and traces once at each shape.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/trace.h"
#include "task/task.h"

namespace kw::frontend {

struct TaskDraft {
  Entry entry;
  std::string format;  // as in Task::format
  task::Dims given;    // values the user gave
  task::Dims file;     // ints at file level
  std::vector<std::string> notes;
  std::vector<task::ScalarSpec> defaults;  // numbers the reference has by default
  std::optional<double> atol, rtol;
  bool fixed_numbers = false;  // extents written as numbers get no names
};

/// The task at the values given, those of the file, or assumed ones, which are noted.
Result<task::Task> make_task(TaskDraft draft);

/// Names the arguments' shapes are made of.
std::set<std::string> names_of(const std::vector<Argument>& arguments);
/// Extents halved until none is larger; odd ones stay odd, different ones different if asked.
task::Dims shrunk(const task::Dims& dims, int64_t largest, bool distinct);
/// The file's name without folder and ending.
std::string stem_of(const std::string& path);

}  // namespace kw::frontend
