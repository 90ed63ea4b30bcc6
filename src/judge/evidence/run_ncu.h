// Runs Nsight Compute on one call of a module, in a worker process that does nothing else, and
// returns its output. A missing, forbidden, crashing or hanging profiler is a message, never an
// Error.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "ports/device.h"

namespace kw::evidence {

struct NcuRequest {
  std::string ncu;                            // path of the profiler
  const ports::Compiled* compiled = nullptr;  // with its image; like all below, borrowed
  const kernel::Program* program = nullptr;
  const ports::InputViews* inputs = nullptr;
  std::string report;            // path of its report, "x.ncu-rep"; "": not kept
  double timeout_seconds = 120;  // for each start
};

struct NcuProfile {
  std::string text;     // the raw page as CSV for profile::import_ncu; "" if none
  std::string problem;  // why, and what the user can do; "" when there is text
  std::string report;   // the path that was written; "" when none
};

/// Errors: interrupted, or inputs that do not fit the program. If the driver forbids counters, ncu
/// is not run again in this process.
Result<NcuProfile> profile_call(const NcuRequest& request);

/// The raw page of a stored report as CSV. Input Error when the profiler cannot read it.
Result<std::string> read_report(const std::string& ncu, const std::string& report,
                                double timeout_seconds);

/// Base names of the metrics of a GPU, from the output of `ncu --query-metrics`.
std::set<std::string> queried_metrics(std::string_view text);
/// The columns to ask by name: those of canonical metrics that the GPU has. If several names mean
/// the same, only the first known one.
std::vector<std::string> metrics_to_ask(const std::set<std::string>& available);

}  // namespace kw::evidence
