// The story of `profile` and `roofline`: judge a module, time it where there is a clock, gather all
// evidence about it, and say what the catalogue would try next and why.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "evidence/evidence.h"
#include "profile/plan.h"

namespace kw::evidence {

struct ProfileRequest {
  std::string module_text;
  verification::VerifyRequest
      verify;            // module, reference, tunables, target, limits; its dims stay empty
  task::Dims dims;       // empty: the task's first benchmark shape
  std::string imported;  // path of a profile made before: Nsight Compute's CSV or .ncu-rep
  std::string report;    // where the profiler's own report goes; "" = not kept
  bool plan = true;      // false: roofline alone
  double profiler_seconds = 120;
  std::optional<std::string> ncu;  // nothing: looked for; "": there is none
};

struct ProfileReport {
  std::string module, task_name, task_hash;
  std::optional<record::Verdict> verdict;  // nothing: without a GPU it is not judged
  std::optional<double> us;                // by the clock
  std::optional<Evidence> evidence;        // nothing: it did not pass
  std::optional<profile::Plan> plan;

  /// It was looked at.
  bool ok() const { return evidence.has_value(); }
};

/// Errors: module, shape or file that cannot be used, the machine's. That there are no hardware
/// counters is none.
Result<ProfileReport> profile_module(const task::Task& task, const ProfileRequest& request,
                                     const timing::BenchTools& tools,
                                     const single_run::Progress& progress = {});

/// The same for every door; the schema is in docs/profile.md.
Json to_json(const ProfileReport& report);
Json to_json(const Evidence& evidence);

}  // namespace kw::evidence
