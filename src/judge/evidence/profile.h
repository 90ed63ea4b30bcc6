// The `profile` and `roofline` commands: verify a module, time it on a GPU, collect all evidence,
// and say which methods of the catalogue to try next and why.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "evidence/evidence.h"
#include "profile/method_plan.h"

namespace kw::evidence {

struct ProfileRequest {
  std::string module_text;
  verification::VerifyRequest
      verify;            // module, reference, tunables, target, limits; dims stay empty
  task::Dims dims;       // empty: the task's first benchmark shape
  std::string imported;  // path of an existing profile: ncu's CSV or .ncu-rep
  std::string report;    // path of the profiler's report; "": not kept
  bool plan = true;      // false: only the roofline
  double profiler_seconds = 120;
  std::optional<std::string> ncu;  // not set: search for it; "": there is none
};

struct ProfileReport {
  std::string module, task_name, task_hash;
  std::optional<record::Verdict> verdict;  // not set: not judged, there is no GPU
  std::optional<double> us;                // by the clock
  std::optional<Evidence> evidence;        // not set: it did not pass
  std::optional<profile::Plan> plan;

  /// The evidence was collected.
  bool ok() const { return evidence.has_value(); }
};

/// Errors: a module, shape or file that cannot be used, or the machine. Missing hardware counters
/// are not an Error.
Result<ProfileReport> profile_module(const task::Task& task, const ProfileRequest& request,
                                     const timing::BenchTools& tools,
                                     const single_run::Progress& progress = {});

/// The same for every interface; the schema is in docs/profile.md.
Json to_json(const ProfileReport& report);
Json to_json(const Evidence& evidence);

}  // namespace kw::evidence
