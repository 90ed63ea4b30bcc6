// The story of `bench` and of `compare` with a reference: judge, make ready at the timed shape,
// measure over fresh workers, audit, compare, and say how far from the floor it is. Nothing is
// timed that did not pass. Works on the ports, so that fakes can stand in.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clock/compare.h"
#include "clock/measure.h"
#include "core/json.h"
#include "core/result.h"
#include "timing/calibration.h"
#include "timing/estimate.h"
#include "timing/timed_shape.h"
#include "timing/torch_baselines.h"
#include "verification/verify.h"

namespace kw::timing {

struct BenchRequest {
  verification::VerifyRequest verify;    // its dims stay empty: the gate looks at every shape
  task::Dims dims;                       // to be timed; empty: the task's first benchmark shape
  std::vector<std::string> modules;      // other modules to compare with, as paths
  std::vector<std::string> torch_modes;  // "eager", "compile", …, "py:package.module.function"
  bool quick = false;                    // one worker, few samples
};

/// Asks the torch process; replaced by a fake in tests.
using TimeBaselines = std::function<Result<BaselinesTimed>(const BaselineRequest& request)>;

struct BenchTools {
  verification::VerifyTools verify;  // its gpu may be missing: then there is only an estimate
  Measure calibrate;                 // of the gpu
  std::function<void()> renew;       // ends the gpu's worker, so that the next is a fresh one
  TimeBaselines baselines;           // may be empty
  /// Inputs and truths that were made before, for a quick look alone; may be null.
  verification::VerifyPools* pools = nullptr;
  const TimedShape* shape = nullptr;   // of the dims to be timed
  std::function<void()> renew_torch;   // the next baselines come from a fresh process
  std::function<void()> expect_torch;  // which is started meanwhile
};

/// One thing on the clock.
struct TimedEntry {
  std::string name;
  std::string kind;                        // "candidate", "module" or "torch"
  std::optional<record::Verdict> verdict;  // of modules
  std::optional<clock::Measurement> measurement;
  std::vector<double> host_us;                  // torch: as the host sees it
  std::optional<clock::Comparison> comparison;  // the candidate against this
  std::string problem;                          // why it was not timed; "" = it was
  std::optional<std::string> wrong;  // torch: what the judge says of its outputs; "" = right
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
  record::Verdict verdict;  // the gate's, or what the timed shape and the audit add to it
  ports::DeviceInfo device;
  task::Dims dims;
  clock::Work work;
  clock::Floor floor;
  std::optional<CalibrationReport> calibration;
  TimedEntry candidate;
  std::vector<TimedEntry> rivals;
  std::optional<Estimate> estimate;  // where there is no GPU
  std::string compiler, target;
  std::vector<std::string> flags;  // tunables
  bool quick = false, replay_seeded = false, deterministic = true;
  int workers = 0, pool = 0;
  std::vector<std::string> notes;
  BenchSeconds seconds;

  /// The best baseline that is right and was compared; nullptr when there is none.
  const TimedEntry* best_rival() const;
};

Result<BenchReport> bench_module(const std::string& module_text, const task::Task& task,
                                 const BenchRequest& request, const BenchTools& tools,
                                 const single_run::Progress& progress = {});

/// The same for every door; the schema is in docs/clock.md.
Json to_json(const BenchReport& report);

}  // namespace kw::timing
