// Decides whether a task is worth a kernel. Checks that the outputs depend on the inputs, that
// every op is active, and that a kernel that does nothing fails. It judges tasks, never candidates.
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
  Error,    // the task must not be used
  Warning,  // the task measures less than it seems to
};
const char* severity_name(Severity severity);

struct Finding {
  std::string rule;  // such as "input-impact"
  Severity severity = Severity::Error;
  std::string subject;  // the output, input or op concerned; "" = the task
  std::string message;  // one sentence with numbers
  std::string shape;    // "B=4 D=8"; "" = all shapes
  int line = 0;         // line of the reference; 0: the whole file
};

struct LintOptions {
  int seeds = 3;      // number of input sets per shape
  double work = 4e6;  // limit of the work of a shape, about; larger shapes are cut
  int threads = 0;
  uint64_t seed = 1;   // not secret: the same task gives the same report
  double seconds = 0;  // approximate limit per task; skipped parts are listed. 0: no limit
};

struct Report {
  std::string task, path;
  std::vector<std::string> shapes;    // the shapes examined
  std::vector<std::string> left_out;  // the skipped parts, with reasons
  std::vector<Finding> findings;      // errors first; one finding for several shapes
  std::optional<double> kill_rate;    // of imposters; not set when none applies
  /// Imposters that give a right result for this task. They are left out of the kill rate.
  std::vector<std::string> equivalent;

  bool usable() const;
  /// "fine", "usable" (warnings only), "degenerate" or "unreadable".
  const char* verdict() const;
};

/// Returns an Error if the task cannot be traced or evaluated.
Result<Report> lint(const task::Task& task, ports::Oracle& oracle, const LintOptions& options);

/// A rule's name and what it checks; rules() returns them in the order applied.
struct RuleInfo {
  const char* name;
  const char* what;
};
std::vector<RuleInfo> rules();

Json to_json(const Report& report);
/// Returns one SARIF 2.1.0 document for all reports.
Json to_sarif(std::span<const Report> reports, const std::string& version);

}  // namespace kw::lint
