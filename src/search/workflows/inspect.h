// The `inspect` and `diff` commands: the contents of a run, one candidate in full, and the
// differences of two runs. Only reads; the run may be in progress.
#pragma once

#include <map>
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
      candidates;      // best first: measured, then estimated, then the rest; maybe only the first
  int64_t listed = 0;  // how many there are, if these are only the first
  std::map<std::string, int64_t> stopped;  // how many were stopped, by stage
  int64_t sessions = 0, crashes = 0;       // sessions in total; those that were interrupted
  std::vector<std::string> damage;         // files that differ from what was written
  std::string foreign;                     // as from store::Run::foreign()
  int64_t unsettled_calls = 0;  // to models, without a recorded answer; they count as spent
  std::string unsettled_cost;   // of these: "$0.0312", "120 tokens"
  std::string prompt;
  std::string kernel_path;  // final/kernel.cu, or "" when no kernel was shipped
  Json report;              // null when there is none yet
  std::vector<record::Event> events;
};

/// `name`: a folder, an id, the start of an id, or "latest" (store/find.h).
Result<RunView> inspect_run(const std::string& root, const std::string& name);
/// The same for a list of the `most` best candidates, without events: of a large run a kept view
/// (kept_view.h) is shown.
Result<RunView> glance_at_run(const std::string& root, const std::string& name, size_t most);

struct CandidateView {
  record::Candidate candidate;
  std::string compile_log;
  bool altered = false;  // the verdict or timing is not what the run recorded; both are null
  Json verdict, timing, profile;  // null when there is none
};

/// A candidate by its id or the start of it.
Result<CandidateView> inspect_candidate(const std::string& root, const std::string& run,
                                        const std::string& id);

/// One difference between two runs.
struct Difference {
  std::string what;           // "config.target", "performance.achieved_gbps"
  std::string before, after;  // "": absent
};

struct RunDiff {
  store::RunRow before, after;
  std::vector<Difference> asked;          // spec, config and env
  std::vector<Difference> came_out;       // the reports
  std::string prompt, reference, kernel;  // as from diff -u; "" when equal
  bool same() const;
};

Result<RunDiff> diff_runs(const std::string& root, const std::string& before,
                          const std::string& after);

Json to_json(const store::RunRow& run);
Json to_json(const RunView& view);
Json to_json(const CandidateView& view);
Json to_json(const RunDiff& diff);

}  // namespace kw::workflows
