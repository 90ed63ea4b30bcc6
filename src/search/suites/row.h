// The result of one task of a suite, as one row. results.csv, the JSON per task and all statistics
// use it. docs/eval.md lists the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::suites {

/// A number that is not set is unknown, which is not the same as 0.
struct TaskRow {
  std::string kernel;
  bool passed = false;
  std::string run_id, failed_stage, failure_reason;
  std::string failure_kind;  // one of kStageFailure … below
  std::optional<double> speedup_vs_torch_compile, speedup_vs_reference;
  std::optional<bool> below_target;
  std::string baseline_status;  // "ok", "failed", "skipped" or ""
  std::string artifacts_dir, regression, provider, model_id;

  std::string relation;  // to the best baseline; "": not compared
  std::optional<double> speedup, speedup_low, speedup_high;  // over the best baseline
  std::string best_baseline;
  bool measured = false;  // on a GPU; otherwise time_us is an estimate
  std::optional<double> time_us, floor_us, of_floor;
  std::string shape, device, target, design;
  int64_t tried = 0, rejected = 0;
  double wall_seconds = 0;
  std::optional<double> cost_usd;
  int64_t tokens_in = 0, tokens_out = 0;
  std::optional<double> max_abs_err, max_rel_err, max_z;
  bool certified = false;
  std::string task_hash, finished;  // of the task's files; time of the end, UTC
  std::string baseline_failure;     // each failed baseline and why; "": none
};

inline constexpr const char* kStageFailure = "stage_failure";    // no candidate passed
inline constexpr const char* kTaskError = "task_error";          // the task cannot be read
inline constexpr const char* kExternalError = "external_error";  // caused by the machine
inline constexpr const char* kRunnerError = "runner_error";      // caused by this program

/// The column names of results.csv, in order.
std::vector<std::string> column_names();

std::string to_csv(const std::vector<TaskRow>& rows);
/// Accepts any order of columns and ignores unknown ones, so tables of other programs can be read.
/// The input Error names the line.
Result<std::vector<TaskRow>> rows_from_csv(std::string_view text);

Json to_json(const TaskRow& row);
/// Reads the JSON of to_json(). An Error when it is not a row.
Result<TaskRow> row_from_json(const Json& json);

}  // namespace kw::suites
