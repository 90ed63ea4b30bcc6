// The `eval` command: runs every task of a suite once, writes its row at once and updates the
// documents. A stop loses only the tasks in progress. The caller supplies the function that runs a
// task. docs/eval.md describes the folder.
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
  std::string only;     // names and patterns, separated by commas; "": all
  int64_t limit = 0;    // most tasks to run; 0: no limit
  bool resume = false;  // continue in `out`: keep passed tasks, repeat failed ones
  int jobs = 1;         // tasks in parallel
  std::string against;  // folder or results.csv of an earlier evaluation; "": none
  std::string out;      // folder of the results
  std::string version;  // of this program
  std::string command;  // continues this evaluation
  std::vector<std::pair<std::string, std::string>> settings;  // on which the results depend
};

/// The result of one task.
struct TaskOutcome {
  TaskRow row;
  Json report;               // everything known, for the JSON of the task
  bool interrupted = false;  // then there is no row
};

struct TaskJob {
  const task_formats::SuiteTask* task = nullptr;
  std::string artifacts;                        // folder for its files
  int worker = 0;                               // 0 … jobs - 1: the worker that runs it
  std::function<void(const std::string&)> say;  // reports progress
};
/// Called from one thread per job. An exception becomes a runner_error.
using RunTask = std::function<TaskOutcome(const TaskJob& job)>;

/// An event for a terminal. Calls never overlap.
struct RunnerEvent {
  enum class Kind : uint8_t { Kept, Started, Says, Finished } kind = Kind::Started;
  size_t number = 0, count = 0;  // position among the selected tasks, from 1
  std::string task, text;
  const TaskRow* row = nullptr;  // of Kept and Finished
};

struct RunnerPorts {
  RunTask run;
  std::function<bool()> interrupted;
  std::function<std::string()> now;               // "2026-11-15T09:12:44Z"
  std::function<void(const RunnerEvent&)> watch;  // may be empty
};

/// Errors: nothing can be run or written. A task that fails is a row.
Result<Evaluation> run_suite(const RunnerRequest& request, const RunnerPorts& ports);

/// The rows of DIR/results.csv, or of a file in that format.
Result<std::vector<TaskRow>> read_results(const std::string& path);

}  // namespace kw::suites
