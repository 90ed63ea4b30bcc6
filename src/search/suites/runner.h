// The story of `eval`: every task of a suite is run once, its row is written at once, and the
// documents are made anew, so that an end at any point loses only the task under way. How a task is
// run is the caller's: a function in, a row out. docs/eval.md describes the folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "suites/evaluation.h"
#include "task_formats/suite.h"

namespace kw::suites {

struct RunnerRequest {
  std::string suite;    // a name or a path
  std::string only;     // names and patterns, commas between; "" = all
  int64_t limit = 0;    // tasks run at most; 0: no limit
  bool resume = false;  // go on in `out`: what passed is kept, what failed is tried again
  int jobs = 1;         // tasks at a time
  std::string against;  // an earlier evaluation's folder, or a results.csv; "" = none
  std::string out;      // folder of the results
  std::string version;  // of this program
  std::string command;  // that goes on with this evaluation
  std::vector<std::pair<std::string, std::string>> settings;  // that results depend on
};

/// What became of one task.
struct TaskOutcome {
  Row row;
  Json report;               // everything known, for the task's own JSON
  bool interrupted = false;  // then there is no row
};

struct TaskJob {
  const task_formats::SuiteTask* task = nullptr;
  std::string artifacts;                        // folder for what it leaves behind
  int worker = 0;                               // 0 … jobs - 1: who runs it
  std::function<void(const std::string&)> say;  // how far it is
};
/// Called from as many threads as there are jobs. What it throws is a runner_error.
using RunTask = std::function<TaskOutcome(const TaskJob& job)>;

/// What happens, for a terminal. Calls never overlap.
struct RunnerEvent {
  enum class Kind : uint8_t { Kept, Started, Says, Finished } kind = Kind::Started;
  size_t number = 0, count = 0;  // the how-manieth of those selected, from 1
  std::string task, text;
  const Row* row = nullptr;  // of Kept and Finished
};

struct RunnerPorts {
  RunTask run;
  std::function<bool()> interrupted;
  std::function<std::string()> now;               // "2026-11-15T09:12:44Z"
  std::function<void(const RunnerEvent&)> watch;  // may be empty
};

/// Errors: nothing can be run or nothing can be written; a task that fails is a row.
Result<Evaluation> run_suite(const RunnerRequest& request, const RunnerPorts& ports);

/// Rows of DIR/results.csv, or of a file of that format.
Result<std::vector<Row>> read_results(const std::string& path);

}  // namespace kw::suites
