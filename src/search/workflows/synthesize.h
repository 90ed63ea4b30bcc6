// The `synthesize`, `resume` and `tune` commands: from a reference to a verified kernel in a run
// folder. Loads, searches, judges every candidate with judge.h, certifies the winner and always
// writes report.json.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "record/verdict.h"
#include "stages/model_options.h"
#include "workflows/evolve.h"
#include "workflows/task_request.h"

namespace kw::timing {
class BenchMachine;
}

namespace kw::workflows {

struct SynthesizeRequest : TaskRequest {
  int64_t elements = 0;              // the shape as a number of elements; 0: not given
  std::string prompt;                // plain English; docs/synthesize.md lists the phrases
  std::string proposer = "builtin";  // "llm", "hybrid", or "auto": hybrid if there is a key
  stages::ModelOptions models;       // for the last three
  double seconds = 60;               // of searching; certifying comes in addition
  size_t candidates = 0;             // most candidates tried; 0: as the device allows
  double goal = 0.95;                // share of the floor that is good enough to stop
  double perf_target = 1;            // share of the best baseline's speed
  std::string out;                   // parent of the run's folder; "": the user's default
  std::vector<std::string> baselines = {"eager", "compile", "max-autotune-no-cudagraphs"};
  std::shared_ptr<timing::BenchMachine> machine;  // shared by many tasks; null: opened here
  std::optional<EvolveRequest> evolve;            // candidates in generations; 0 seconds: no limit
  // Checks before the hardware runs a kernel; an evolution has its own.
  bool verifiers = true;                // estimates order what hardware runs
  review::SoftVerifyOptions reviewers;  // reviewers of models' modules
};

/// The progress of a job.
struct SynthesisProgress {
  std::string stage;  // "reference", "search", "certify", …
  std::string detail;
  std::string notice;  // always shown: what models may cost
  size_t tried = 0, rejected = 0;
  double best_us = 0;                 // 0: none yet
  bool measured = false;              // best_us is a time, not an estimate
  double of_floor = 0;                // floor over best; 0: unknown
  double seconds = 0;                 // since the start
  std::string folder;                 // of the run, once it exists
  std::optional<double> eta_seconds;  // until the search must end
};
using SynthesisWatcher = std::function<void(const SynthesisProgress&)>;

/// One baseline beside the kernel.
struct BaselineLine {
  std::string name;          // "eager", "compile", …
  double us = 0;             // 0: not timed
  double speedup = 0;        // baseline over kernel, paired; 0: not compared
  std::string relation;      // "FASTER", "SAME", "SLOWER", "AMBIGUOUS" or ""
  std::string problem;       // why it was not compared
  double low = 0, high = 0;  // interval of the speedup; 0: unknown
};

/// "baseline eager failed: the reference ran out of memory: …".
std::string baseline_problem(const std::string& name, const std::string& problem);

/// The result of a job. `document` is report.json.
struct SynthesisReport {
  bool passed = false;
  bool interrupted = false;
  std::string run_id, folder, task_name;
  std::string failed_stage, failure_reason;  // "" when it passed
  std::string kernel_path;                   // final/kernel.cu; "" when no kernel was shipped
  std::string design;
  std::map<std::string, int64_t> tunes;
  std::string device, dims;
  size_t tried = 0, rejected = 0, kept = 0;
  std::string stopped;  // why the search ended
  bool measured = false;
  double us = 0;  // measured, otherwise estimated; 0: unknown
  double floor_us = 0, of_floor = 0;
  std::vector<BaselineLine> baselines;
  std::optional<double> speedup;     // over the best baseline
  std::string relation;              // to that baseline
  std::optional<bool> below_target;  // not set: unknown
  bool certified = false;            // as its verdict; never of a quick or replayed run
  bool fresh = false;                // inputs from fresh entropy
  std::string below;                 // record::Passed::below
  int64_t cells = 0;
  double max_z = 0;
  std::optional<bool> deterministic;
  record::BatchInvariance batch;
  double wall_seconds = 0;
  std::vector<std::string> warnings, notes;
  std::string models, cost;        // models asked and their cost, as text; "" when none
  std::optional<int> error_blame;  // of an Error that ended it: kw::Blame as a number
  Json document;
};

/// An Error only if no run can be created (a bad option, no folder to write to). Later failures are
/// in the report.
Result<SynthesisReport> synthesize(const SynthesizeRequest& request,
                                   const SynthesisWatcher& watcher = {});

/// What the user may change when a run is resumed.
struct ContinueRequest {
  std::string folder;             // of the run
  std::string reference;          // the reference's path now; "": as before
  std::optional<double> seconds;  // of searching, from now
  std::optional<size_t> candidates;
  std::string device;           // "": as before
  bool only_measure = false;    // `tune`: no new candidates
  stages::ModelOptions limits;  // of its members, the limits for all sessions of the run
  std::string record, replay;   // cassettes
  bool programs = false;        // programs that the folder names as models may run
  double timeout_seconds = 60;
  int threads = 0;
  std::string version;
  std::shared_ptr<timing::BenchMachine> machine;  // null: opened here
  std::optional<EvolveResumeOptions> evolve;      // the run must be an evolution
};

/// The folder of a run named by path, id, start of an id or "latest"; `out` as for synthesize.
Result<std::string> named_run(const std::string& out, const std::string& name);

/// Continues a stopped run. A changed reference is an input Error with the difference.
Result<SynthesisReport> continue_run(const ContinueRequest& request,
                                     const SynthesisWatcher& watcher = {});

}  // namespace kw::workflows
