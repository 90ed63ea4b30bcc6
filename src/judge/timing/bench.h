// `bench`, and `compare` with a reference: verify, prepare at the timed shape, measure in fresh
// workers, audit, compare, and report the distance to the floor. Only a candidate that passed is
// timed. Uses only ports, so tests can use fakes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clock/measure.h"
#include "clock/paired_samples.h"
#include "core/json.h"
#include "core/result.h"
#include "timing/calibration.h"
#include "timing/estimate.h"
#include "timing/timed_shape.h"
#include "timing/torch_baselines.h"
#include "verification/verify.h"

namespace kw::timing {

struct BenchRequest {
  verification::VerifyRequest verify;    // its dims stay empty: the gate checks every shape
  task::Dims dims;                       // to time; empty: the task's first benchmark shape
  std::vector<std::string> modules;      // other modules to compare with, as paths
  std::vector<std::string> torch_modes;  // "eager", "compile", …, "py:package.module.function"
  bool quick = false;                    // one worker, few samples
};

/// Asks the torch process; tests use a fake.
using TimeBaselines = std::function<Result<BaselinesTimed>(const BaselineRequest& request)>;

struct BenchTools {
  verification::VerifyTools verify;  // its gpu may be null: then there is only an estimate
  Measure calibrate;                 // measures the gpu
  std::function<void()> renew;       // ends the gpu's worker; the next call starts a new one
  TimeBaselines baselines;           // may be empty
  /// Existing inputs and truths, used only by a quick bench; may be null.
  verification::VerifyPools* pools = nullptr;
  const TimedShape* shape = nullptr;   // at the dims to time
  std::function<void()> renew_torch;   // the next baselines use a new process
  std::function<void()> expect_torch;  // starts that process in the background
};

/// One program that is timed.
struct TimedEntry {
  std::string name;
  std::string kind;                        // "candidate", "module" or "torch"
  std::optional<record::Verdict> verdict;  // of modules
  std::optional<clock::Measurement> measurement;
  std::vector<double> host_us;                  // torch: time on the host
  std::optional<clock::Comparison> comparison;  // of the candidate with this one
  std::string problem;                          // why it was not timed; "": it was
  std::optional<std::string> wrong;             // torch: the judge on its outputs; "": right
};

struct BenchSeconds {
  double prepare = 0;  // inputs and truths
  double gate = 0;     // compile and verify
  double timing = 0;   // of the candidate and the modules beside it
  double baselines = 0, calibration = 0;
  double turnaround() const { return gate + timing; }
};

struct BenchReport {
  verification::VerifyReport gate;
  record::Verdict verdict;  // the gate's, or the timed shape's or the audit's
  ports::DeviceInfo device;
  task::Dims dims;
  clock::Work work;
  clock::Floor floor;
  std::optional<CalibrationReport> calibration;
  TimedEntry candidate;
  std::vector<TimedEntry> rivals;
  std::optional<Estimate> estimate;  // if there is no GPU
  std::string compiler, target;
  std::vector<std::string> flags;  // tunables
  bool quick = false, replay_seeded = false, deterministic = true;
  int workers = 0, pool = 0;
  std::vector<std::string> notes;
  BenchSeconds seconds;

  /// The fastest baseline that is right and was compared; nullptr when there is none.
  const TimedEntry* best_rival() const;
};

Result<BenchReport> bench_module(const std::string& module_text, const task::Task& task,
                                 const BenchRequest& request, const BenchTools& tools,
                                 const single_run::Progress& progress = {});

/// The same for every interface; the schema is in docs/clock.md.
Json to_json(const BenchReport& report);

}  // namespace kw::timing
