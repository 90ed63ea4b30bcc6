// An evaluated suite, complete or in progress, and its documents: summary.md for the user, JUnit
// for CI, JSON for programs. Makes text only; the caller writes files.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "suites/changes.h"
#include "suites/row.h"
#include "suites/totals.h"

namespace kw::suites {

struct Evaluation {
  std::string suite;                                          // name or path
  std::vector<std::pair<std::string, std::string>> settings;  // "target", "sm_90"
  std::string version, started, updated;                      // UTC
  std::string command;                                        // continues or repeats it
  int64_t selected = 0;                                       // number of requested tasks
  bool interrupted = false;
  std::vector<TaskRow> rows;
  Totals totals;                // of rows
  std::string against;          // the folder compared with; "": none
  std::vector<Change> changes;  // since then

  int64_t regressions() const;
  /// Every requested task has a row.
  bool complete() const { return static_cast<int64_t>(rows.size()) >= selected; }
};

/// Computes totals and changes from the rows, and each row's `regression`.
void compute_totals(const std::vector<TaskRow>& before, Evaluation* evaluation);

std::string summary_markdown(const Evaluation& evaluation);
std::string junit_xml(const Evaluation& evaluation);
/// A few lines for a terminal: rates, speedups, floor, time, failures and regressions.
std::string summary_text(const Evaluation& evaluation);
Json to_json(const Evaluation& evaluation);

}  // namespace kw::suites
