// `eval` on top of `synthesize`: each task of a suite becomes a job, each job's report a row. How a
// suite is walked and what is written is evaluation/runner.h's.
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

/// How one task is done; replaced by fakes in tests.
struct EvalTools {
  std::function<Result<SynthesisReport>(const SynthesizeRequest&, const SynthesisWatcher&)>
      synthesize;
  /// For a run that was cut short, when an evaluation is resumed. May be empty: then it is begun
  /// anew.
  std::function<Result<SynthesisReport>(const ContinueRequest&, const SynthesisWatcher&)> go_on;
  /// What the tasks of one worker share. May be empty; null where there is none.
  std::function<std::shared_ptr<timing::BenchMachine>()> open_machine;
};
EvalTools eval_tools(const SynthesizeRequest& each);
using EvalWatcher = std::function<void(const suites::RunnerEvent&)>;

/// With a GPU one task is done at a time, whatever was asked: a clock needs the device for itself.
Result<suites::Evaluation> eval_suite(const EvalRequest& request, const EvalTools& tools,
                                      const EvalWatcher& watcher = {});

/// What models may cost over a whole evaluation, said before it begins.
struct EvalCost {
  size_t tasks = 0;
  std::string models;  // "anthropic:claude-sonnet-4-6"
  std::optional<double>
      usd_expected;        // by the price table and a usual conversation; none: no price
  double usd_at_most = 0;  // the cap per kernel times the tasks
};
/// Nothing when no model would be asked.
Result<std::optional<EvalCost>> eval_cost(const EvalRequest& request);
/// "42 tasks with …: about $6.30 by the price table, at most $84.00".
std::string cost_text(const EvalCost& cost);

/// A job's report as a row; the name, hash and time are the runner's to add.
suites::Row row_of(const SynthesisReport& report, const SynthesizeRequest& request);
/// The same for a job that never came to be.
suites::Row row_of(const Error& error);
/// "41 tried, best 12.3 us, 96 % of the floor": how far a job is, for one line.
std::string progress_text(const SynthesisProgress& progress);

}  // namespace kw::workflows
