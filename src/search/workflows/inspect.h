// The stories of `inspect` and `diff`: what a run holds, one of its candidates in full, and how two
// runs differ. Reads only; a run that is being worked on can be looked at.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "record/candidate.h"
#include "record/event.h"
#include "store/index.h"
#include "store/summary.h"

namespace kw::workflows {

struct RunView {
  store::RunRow run;
  std::vector<store::CandidateRow>
      candidates;                     // best first: measured, then estimated, then the rest
  int64_t sessions = 0, crashes = 0;  // times it was worked on; those that were cut short
  std::vector<std::string> damage;    // files that are not what was written
  std::string prompt;
  std::string kernel_path;  // final/kernel.cu, or "" when nothing was shipped
  Json report;              // null when there is none yet
  std::vector<record::Event> events;
};

/// `name`: a folder, an id, the beginning of one, or "latest" (store/find.h).
Result<RunView> inspect_run(const std::string& root, const std::string& name);

struct CandidateView {
  record::Candidate candidate;
  std::string compile_log;
  Json verdict, timing, profile;  // null when there is none
};

/// A candidate by its id or the beginning of it.
Result<CandidateView> inspect_candidate(const std::string& root, const std::string& run,
                                        const std::string& id);

/// One thing that is not the same in two runs.
struct Difference {
  std::string what;           // "config.target", "performance.achieved_gbps"
  std::string before, after;  // "" = not there
};

struct RunDiff {
  store::RunRow before, after;
  std::vector<Difference> asked;          // spec, config and env
  std::vector<Difference> came_out;       // the reports
  std::string prompt, reference, kernel;  // as diff -u says it; "" when equal
  bool same() const;
};

Result<RunDiff> diff_runs(const std::string& root, const std::string& before,
                          const std::string& after);

Json to_json(const store::RunRow& run);
Json to_json(const RunView& view);
Json to_json(const CandidateView& view);
Json to_json(const RunDiff& diff);

}  // namespace kw::workflows
