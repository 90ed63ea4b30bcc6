// One task's outcome in the evaluation of a suite, as a row of numbers and words: results.csv, the
// per-task JSON and every statistic are made of it. docs/eval.md has the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::suites {

/// Absent numbers are not known, which is never the same as 0.
struct Row {
  std::string kernel;
  bool passed = false;
  std::string run_id, failed_stage, failure_reason;
  std::string failure_kind;  // see kStageFailure …
  std::optional<double> speedup_vs_torch_compile, speedup_vs_reference;
  std::optional<bool> below_target;
  std::string baseline_status;  // "ok", "failed", "skipped" or ""
  std::string artifacts_dir, regression, provider, model_id;

  std::string relation;  // to the best baseline; "" = not compared
  std::optional<double> speedup, speedup_low, speedup_high;  // against the best baseline
  std::string best_baseline;
  bool measured = false;  // on a GPU; else time_us is an estimate
  std::optional<double> time_us, floor_us, of_floor;
  std::string shape, device, target, design;
  int64_t tried = 0, rejected = 0;
  double wall_seconds = 0;
  std::optional<double> cost_usd;
  int64_t tokens_in = 0, tokens_out = 0;
  std::optional<double> max_abs_err, max_rel_err, max_z;
  bool certified = false;
  std::string task_hash, finished;  // of its files; when, UTC
  std::string baseline_failure;     // each that failed, and why; "" = none
};

inline constexpr const char* kStageFailure = "stage_failure";    // no candidate passed
inline constexpr const char* kTaskError = "task_error";          // the task cannot be read
inline constexpr const char* kExternalError = "external_error";  // the machine's fault
inline constexpr const char* kRunnerError = "runner_error";      // ours

/// Names of the columns of results.csv, in order.
std::vector<std::string> column_names();

std::string to_csv(const std::vector<Row>& rows);
/// Any order of columns; unknown ones are ignored, so that tables of others can be read. The input
/// Error names the line.
Result<std::vector<Row>> rows_from_csv(std::string_view text);

Json to_json(const Row& row);
/// What to_json() wrote. An Error when it is no row.
Result<Row> row_from_json(const Json& json);

}  // namespace kw::suites
