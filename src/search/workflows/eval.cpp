// An evaluation of a suite is a synthesis per task. This file joins the two: it makes a request for
// each task, keeps the opened machine for the next task of the same worker, and turns a report into
// a row. With a GPU only one task runs at a time, because the clock needs the device alone. A
// resumed evaluation continues a task's unfinished run before it starts a new one. The settings
// that results depend on are stored, so two evaluations are never mixed. A process per task was the
// alternative; importing torch alone takes seconds. The cost of models is estimated before the
// start, so the user can stop it.
#include "workflows/eval.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "core/text.h"
#include "llm/config.h"
#include "os/interrupt.h"
#include "stages/stage_plan.h"
#include "store/find.h"
#include "store/run.h"
#include "store/run_id.h"
#include "timing/bench_tools.h"

namespace kw::workflows {

namespace {

using suites::TaskRow;

constexpr const char* kEager = "eager";

std::optional<double> number(const Json& json) {
  return json.is_number() ? std::optional(json.as_double()) : std::nullopt;
}

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

bool compared(const BaselineLine& line) { return line.speedup > 0; }

/// The fastest baseline: the one with the smallest speedup over it.
const BaselineLine* best_of(const std::vector<BaselineLine>& lines, bool with_eager) {
  const BaselineLine* best = nullptr;
  for (const BaselineLine& line : lines) {
    if (!compared(line) || (!with_eager && line.name == kEager)) continue;
    if (best == nullptr || line.speedup < best->speedup) best = &line;
  }
  return best;
}

std::string baseline_failures(const SynthesisReport& report) {
  std::vector<std::string> all;
  for (const BaselineLine& line : report.baselines) {
    if (!line.problem.empty()) all.push_back(baseline_problem(line.name, line.problem));
  }
  return join(all, "; ");
}

std::string baseline_status(const SynthesisReport& report) {
  if (!report.passed) return "";
  if (std::ranges::any_of(report.baselines, compared)) return "ok";
  return report.baselines.empty() || !report.measured ? "skipped" : "failed";
}

void add_speedups(const SynthesisReport& report, TaskRow* row) {
  for (const BaselineLine& line : report.baselines) {
    if (line.name == kEager && compared(line)) row->speedup_vs_reference = line.speedup;
  }
  if (const BaselineLine* compiled = best_of(report.baselines, false))
    row->speedup_vs_torch_compile = compiled->speedup;
  const BaselineLine* best = best_of(report.baselines, true);
  if (best == nullptr) return;
  row->best_baseline = best->name;
  row->speedup = report.speedup.value_or(best->speedup);
  row->relation = report.relation.empty() ? best->relation : report.relation;
  row->speedup_low = positive(best->low);
  row->speedup_high = positive(best->high);
}

void add_document(const Json& document, TaskRow* row) {
  const Json& inner = document["report"];
  row->cost_usd = number(inner["total_cost_usd"]);
  row->tokens_in = inner["total_llm_tokens_in"].as_int();
  row->tokens_out = inner["total_llm_tokens_out"].as_int();
  row->max_abs_err = number(document["correctness"]["max_abs_err"]);
  row->max_rel_err = number(document["correctness"]["max_rel_err"]);
}

/// Estimated tokens of a stage: half of the attempts are needed, and the provider caches most of
/// the prompt.
llm::Usage usual_usage(int attempts) {
  const double calls = attempts == 0 ? 0 : 0.5 * attempts + 0.5;
  return llm::Usage{.known = true,
                    .input = static_cast<int64_t>(4000 * calls),
                    .output = static_cast<int64_t>(3000 * calls),
                    .cache_read = static_cast<int64_t>(6000 * calls)};
}

const char* failure_kind(std::optional<int> blame) {
  if (!blame) return suites::kStageFailure;
  switch (static_cast<Blame>(*blame)) {
    case Blame::Input:
      return suites::kTaskError;
    case Blame::Environment:
      return suites::kExternalError;
    case Blame::Bug:
      break;
  }
  return suites::kRunnerError;
}

std::string models_text(const stages::ModelOptions& models) {
  std::string text = models.model_id.empty() ? stages::kDefaultModel : models.model_id;
  for (const std::string& word : models.stage_models) text += ", " + word;
  for (const std::string& word : models.retries) text += ", attempts " + word;
  return text + (models.escalate ? ", escalating" : "");
}

/// The settings that two evaluations must share to be compared.
std::vector<std::pair<std::string, std::string>> settings_of(const SynthesizeRequest& each) {
  const std::string dims = task::dims_text(each.dims);
  return {{"proposer", each.proposer},
          {"device", each.device},
          {"target", each.target},
          {"seconds per task", fmt::format("{:g}", each.seconds)},
          {"candidates", each.candidates == 0 ? "any" : fmt::format("{}", each.candidates)},
          {"goal", fmt::format("{:g}", each.goal)},
          {"performance target", fmt::format("{:g}", each.perf_target)},
          {"precision", each.precision},
          {"timing", each.quick ? "quick" : "full"},
          {"seed", each.seed ? fmt::format("{}", *each.seed) : "fresh"},
          {"shape", (dims.empty() ? "each task's own" : dims) +
                        (each.function.empty() ? "" : ", " + each.function)},
          {"baselines", join(each.baselines, ", ")},
          {"models", each.proposer == "builtin" ? "none" : models_text(each.models)}};
}

/// The newest run of a task, unless it failed: it was interrupted, or passed without a row here.
/// Otherwise "".
std::string unfinished_run(const std::string& artifacts) {
  const std::vector<std::string> runs = store::run_folders(artifacts);
  if (runs.empty()) return "";
  const Result<store::Run> run = store::Run::open(runs.front(), store::Access::Read);
  if (!run) return "";
  const Json report = run->report();
  const bool failed =
      !report.is_null() && !report["interrupted"].as_bool() && !report["passed"].as_bool();
  return failed ? "" : runs.front();
}

/// The first task of a worker opens the machine, and later tasks reuse it: importing torch alone
/// takes seconds.
class Workers {
 public:
  Workers(const EvalRequest& request, const EvalTools& tools)
      : each_(request.each),
        resumes_(request.runner.resume),
        tools_(tools),
        machines_(static_cast<size_t>(request.runner.jobs)) {
    if (request.runner.jobs <= 1) return;
    const std::shared_ptr<timing::BenchMachine> first = machine(0);
    jobs_ = first != nullptr && first->tools().verify.gpu != nullptr ? 1 : request.runner.jobs;
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    if (each_.threads == 0)
      each_.threads = std::max(1, static_cast<int>(cores) / std::max(jobs_, 1));
  }

  int jobs() const { return jobs_; }

  suites::TaskOutcome run(const suites::TaskJob& job) {
    SynthesizeRequest request = each_;
    request.reference = job.task->path;
    request.out = job.artifacts;
    request.machine = machine(static_cast<size_t>(job.worker));
    const auto watcher = [&job](const SynthesisProgress& progress) {
      job.say(progress_text(progress));
    };
    Result<SynthesisReport> report = resume(request, watcher);
    if (!report && !os::interrupted()) report = tools_.synthesize(request, watcher);
    if (!report) return {row_of(report.error()), {}, os::interrupted()};
    return {row_of(*report, request), report->document, report->interrupted};
  }

 private:
  /// Continues the unfinished run of this task if the evaluation is resumed. An Error when there is
  /// none or it cannot continue.
  Result<SynthesisReport> resume(const SynthesizeRequest& request,
                                 const SynthesisWatcher& watcher) {
    // A stored run may name another program than the user, so runs with programs start again.
    const bool programs = request.models.model_id.starts_with("command:");
    const bool may = resumes_ && tools_.resume && !programs;
    const std::string folder = may ? unfinished_run(request.out) : "";
    if (folder.empty()) return input_error("there is no run to continue");
    ContinueRequest how;
    how.folder = folder;
    how.reference = request.reference;
    how.timeout_seconds = request.timeout_seconds;
    how.threads = request.threads;
    how.version = request.version;
    how.machine = request.machine;
    return tools_.resume(how, watcher);
  }

  std::shared_ptr<timing::BenchMachine> machine(size_t worker) {
    std::shared_ptr<timing::BenchMachine>& kept = machines_[worker];
    if (kept == nullptr && tools_.open_machine) kept = tools_.open_machine();
    return kept;
  }

  SynthesizeRequest each_;
  const bool resumes_;
  const EvalTools& tools_;
  std::vector<std::shared_ptr<timing::BenchMachine>>
      machines_;  // shared with the jobs that use them
  int jobs_ = 1;
};

}  // namespace

std::string progress_text(const SynthesisProgress& progress) {
  std::string text = progress.stage;
  if (progress.tried > 0) text += fmt::format(", {} tried", progress.tried);
  if (progress.best_us > 0) {
    text += fmt::format(", best {:.1f} us{}", progress.best_us, progress.measured ? "" : " est.");
  }
  if (progress.of_floor > 0)
    text += fmt::format(", {:.0f} % of the floor", 100 * progress.of_floor);
  return text;
}

TaskRow row_of(const Error& error) {
  TaskRow row;
  row.failure_kind = failure_kind(static_cast<int>(error.blame));
  row.failed_stage = "reference";
  row.failure_reason = error.message;
  return row;
}

TaskRow row_of(const SynthesisReport& report, const SynthesizeRequest& request) {
  TaskRow row;
  row.passed = report.passed;
  row.run_id = report.run_id;
  row.artifacts_dir = report.folder;
  row.provider = request.proposer;
  // The column names the author. The built-in proposer is not a model but has a name.
  const std::string& model = request.models.model_id;
  row.model_id = report.models.empty() ? request.proposer
                 : model.empty()       ? stages::kDefaultModel
                                       : model;
  row.baseline_status = baseline_status(report);
  row.baseline_failure = baseline_failures(report);
  if (!report.passed) {
    row.failed_stage = report.failed_stage;
    row.failure_reason = report.failure_reason;
    row.failure_kind = failure_kind(report.error_blame);
  }
  row.below_target = report.below_target;
  add_speedups(report, &row);
  row.measured = report.measured;
  row.time_us = positive(report.us);
  row.floor_us = positive(report.floor_us);
  row.of_floor = positive(report.of_floor);
  row.shape = report.dims;
  row.device = report.device;
  row.target = request.target;
  row.design = report.design;
  row.tried = static_cast<int64_t>(report.tried);
  row.rejected = static_cast<int64_t>(report.rejected);
  row.wall_seconds = report.wall_seconds;
  row.max_z = report.cells > 0 ? std::optional(report.max_z) : std::nullopt;
  row.certified = report.certified;
  add_document(report.document, &row);
  return row;
}

Result<std::optional<EvalCost>> eval_cost(const EvalRequest& request) {
  if (request.each.proposer == "builtin") return std::optional<EvalCost>{};
  const llm::Config config = KW_TRY(llm::load_config());
  const stages::ModelOptions& models = request.each.models;
  const stages::ModelPlan plan = KW_TRY(stages::make_plan(
      {models.model_id, models.escalation_id, models.stage_models, models.retries, models.escalate},
      config));
  const task_formats::Suite suite =
      KW_TRY(task_formats::open_suite(request.runner.suite, request.runner.out));
  EvalCost cost;
  cost.tasks = KW_TRY(task_formats::select_tasks(suite, request.runner.only)).size();
  if (request.runner.limit > 0)
    cost.tasks = std::min(cost.tasks, static_cast<size_t>(request.runner.limit));
  cost.models = models_text(models);
  cost.usd_at_most =
      models.budget_usd.value_or(stages::kDefaultBudget) * static_cast<double>(cost.tasks);
  double each = 0;
  for (const stages::Stage stage : stages::kAllStages) {
    const llm::ModelId& id = plan.model(stage);
    const auto price = config.price(id.provider, id.model);
    if (!price) return std::optional(cost);
    each += price->usd(usual_usage(plan.budget(stage)));
  }
  cost.usd_expected = std::min(each * static_cast<double>(cost.tasks), cost.usd_at_most);
  return std::optional(cost);
}

std::string cost_text(const EvalCost& cost) {
  return fmt::format("{} tasks with {}: {}, at most {}", cost.tasks, cost.models,
                     cost.usd_expected
                         ? "about " + llm::usd_text(cost.usd_expected) + " by the price table"
                         : std::string("no price is known"),
                     cost.usd_expected ? llm::usd_text(cost.usd_at_most) : "no limit in dollars");
}

EvalTools eval_tools(const SynthesizeRequest& each) {
  timing::BenchOpenRequest open = machine_request(each);
  open.torch = !each.baselines.empty();
  // The job that needs a machine reports why there is none.
  const auto open_machine = [open]() -> std::shared_ptr<timing::BenchMachine> {
    Result<std::unique_ptr<timing::BenchMachine>> machine = timing::BenchMachine::open(open);
    return machine ? std::move(machine).value() : nullptr;
  };
  return {synthesize, continue_run, open_machine};
}

Result<suites::Evaluation> eval_suite(const EvalRequest& request, const EvalTools& tools,
                                      const EvalWatcher& watcher) {
  Workers workers(request, tools);
  suites::RunnerRequest runner = request.runner;
  runner.jobs = workers.jobs();
  runner.settings = settings_of(request.each);
  suites::RunnerPorts ports;
  ports.run = [&](const suites::TaskJob& job) { return workers.run(job); };
  ports.interrupted = os::interrupted;
  ports.now = [] { return store::utc_text(store::wall_clock()); };
  ports.watch = watcher;
  return suites::run_suite(runner, ports);
}

}  // namespace kw::workflows
