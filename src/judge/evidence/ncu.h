// Runs Nsight Compute on one call of a module, in our own process with nothing else in it, and
// gives what it printed. That it is missing, forbidden, crashes or hangs is an answer in words,
// never an Error of the story that asked.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "ports/device.h"

namespace kw::evidence {

struct NcuRequest {
  std::string ncu;                            // the profiler's path
  const ports::Compiled* compiled = nullptr;  // with its image; as all below, borrowed
  const kernel::Program* program = nullptr;
  const ports::InputViews* inputs = nullptr;
  std::string report;            // where its own report goes, "x.ncu-rep"; "" = not kept
  double timeout_seconds = 120;  // of each time it is started
};

struct NcuProfile {
  std::string text;     // the raw page as CSV, for profile::import_ncu; "" when there is none
  std::string problem;  // why, with the way out; "" when there is one
  std::string report;   // the path that was written; "" when none
};

/// Errors: interrupted, or inputs that do not fit the program. A user whom the driver forbids to
/// read counters is asked about once per process.
Result<NcuProfile> profile_call(const NcuRequest& request);

/// The raw page of a report that was kept, as CSV. Input Error when the profiler cannot read it.
Result<std::string> read_report(const std::string& ncu, const std::string& report,
                                double timeout_seconds);

/// Base names of the metrics a GPU has, from what `ncu --query-metrics` prints.
std::set<std::string> queried_metrics(std::string_view text);
/// The columns to ask for by name: those of the canonical metrics that the GPU has. Of several
/// names for one thing the first it knows, where the others would add nothing.
std::vector<std::string> metrics_to_ask(const std::set<std::string>& available);

}  // namespace kw::evidence
