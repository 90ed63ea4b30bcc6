// `eval` on top of `synthesize`: each task of a suite becomes a job, each job's report a row.
// suites/runner.h runs the suite and writes the files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "suites/runner.h"
#include "workflows/synthesize.h"

namespace kw::workflows {

struct EvalRequest {
  suites::RunnerRequest runner;  // its settings are filled in from `each`
  SynthesizeRequest each;        // for every task; reference and out are set per task
};

/// How one task is run; tests use fakes.
struct EvalTools {
  std::function<Result<SynthesisReport>(const SynthesizeRequest&, const SynthesisWatcher&)>
      synthesize;
  /// Continues an interrupted run when an evaluation is resumed. May be empty: then the task starts
  /// again.
  std::function<Result<SynthesisReport>(const ContinueRequest&, const SynthesisWatcher&)> resume;
  /// What the tasks of one worker share. May be empty; returns null when there is none.
  std::function<std::shared_ptr<timing::BenchMachine>()> open_machine;
};
EvalTools eval_tools(const SynthesizeRequest& each);
using EvalWatcher = std::function<void(const suites::RunnerEvent&)>;

/// With a GPU one task runs at a time, for any number of jobs: the clock needs the device alone.
Result<suites::Evaluation> eval_suite(const EvalRequest& request, const EvalTools& tools,
                                      const EvalWatcher& watcher = {});

/// What models may cost for a whole evaluation, shown before it starts.
struct EvalCost {
  size_t tasks = 0;
  std::string models;  // "anthropic:claude-sonnet-4-6"
  std::optional<double>
      usd_expected;        // by the price table and a usual conversation; not set: no price
  double usd_at_most = 0;  // the limit per kernel times the tasks
};
/// Not set when no model would be asked.
Result<std::optional<EvalCost>> eval_cost(const EvalRequest& request);
/// "42 tasks with …: about $6.30 by the price table, at most $84.00".
std::string cost_text(const EvalCost& cost);

/// A job's report as a row. The runner adds name, hash and time.
suites::TaskRow row_of(const SynthesisReport& report, const SynthesizeRequest& request);
/// The same for a job that could not start.
suites::TaskRow row_of(const Error& error);
/// "41 tried, best 12.3 us, 96 % of the floor": progress of a job in one line.
std::string progress_text(const SynthesisProgress& progress);

}  // namespace kw::workflows
