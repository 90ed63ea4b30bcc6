// Whether a task is worth a kernel: does its output depend on what goes in, is every op active,
// would a kernel that does nothing be caught. Judges tasks, never candidates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "ports/oracle.h"
#include "task/task.h"

namespace kw::lint {

enum class Severity : uint8_t {
  Error,    // the task should not be used
  Warning,  // it measures less than it seems to
};
const char* severity_name(Severity severity);

struct Finding {
  std::string rule;  // "input-impact"
  Severity severity = Severity::Error;
  std::string subject;  // the output, input or op it is about; "" = the task
  std::string message;  // one sentence with the numbers
  std::string shape;    // "B=4 D=8"; "" = every one
  int line = 0;         // of the reference; 0: all of it
};

struct Options {
  int seeds = 3;      // sets drawn per shape
  double work = 4e6;  // shapes are cut to about this much arithmetic
  int threads = 0;
  uint64_t seed = 1;   // nothing here is secret: the same task gives the same report
  double seconds = 0;  // of one task, about; what was not done is listed. 0: no limit
};

struct Report {
  std::string task, path;
  std::vector<std::string> shapes;    // looked at
  std::vector<std::string> left_out;  // and why
  std::vector<Finding> findings;      // errors first; the same finding at several shapes once
  std::optional<double> kill_rate;    // of imposters; nothing when none applies
  /// Imposters that are right here: the same on paper, and within the bound. They count for
  /// nothing.
  std::vector<std::string> equivalent;

  bool usable() const;
  /// "fine", "usable" (warnings only), "degenerate" or "unreadable".
  const char* verdict() const;
};

/// Errors: the task cannot be traced or evaluated at all.
Result<Report> lint(const task::Task& task, ports::Oracle& oracle, const Options& options);

/// A rule by name and what it looks for, in the order applied.
struct RuleInfo {
  const char* name;
  const char* what;
};
std::vector<RuleInfo> rules();

Json to_json(const Report& report);
/// SARIF 2.1.0 for all reports together.
Json to_sarif(std::span<const Report> reports, const std::string& version);

}  // namespace kw::lint
