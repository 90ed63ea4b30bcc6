// The problem: some tasks can be passed by a kernel that computes less than the reference. The
// linter draws ordinary inputs at small shapes and applies a table of rules to the truths. It then
// sends the gate's imposters through the cells; an imposter that passes everywhere is an error. The
// alternative, reading the source for suspicious patterns, misses ops that are inactive only for
// the drawn values. The cost is several truths per shape; `LintOptions::work` and
// `LintOptions::seconds` limit it.
#include "lint/lint.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "core/text.h"
#include "gate/imposters.h"
#include "gate/pool.h"
#include "graph/cost.h"
#include "inputs/families.h"
#include "lint/rule.h"
#include "shapes/shapes.h"

namespace kw::lint {

namespace {

// Below this, the launch dominates the time: 8 MB at 4 TB/s take 2 us, half of an empty launch.
constexpr double kLaunchBytes = 8e6;
constexpr double kLaunchFlops = 1e8;
// A shape that cannot be cut may cost up to this multiple of the limit.
constexpr double kMostTimes = 100;

struct Rule {
  RuleInfo info;
  Status (*apply)(LintContext& context, const LintCase& at, Findings* out);
};

constexpr Rule kRules[] = {
    {{"finite-outputs", "outputs are finite for ordinary inputs"}, finite_outputs},
    {{"output-range", "the elements of an output differ"}, output_range},
    {{"constant-output", "no constant would pass as an output"}, constant_output},
    {{"seed-spread", "outputs change from one draw of the inputs to the next"}, seed_spread},
    {{"axis-variation", "outputs vary along each of their dims"}, axis_variation},
    {{"input-impact", "every input matters, and every weight (init-impact)"}, input_impact},
    {{"inactive-op", "every op has an effect for ordinary inputs"}, inactive_ops},
    {{"discontinuity", "few elements depend on values near a discontinuity"}, discontinuities},
    {{"overflow", "few elements overflow the declared precision, in any family"}, overflow},
    {{"saturated-output", "few elements are saturated by a tanh, erf or sigmoid"},
     saturated_output},
    {{"idle-work", "no operand of a product is mostly zeros"}, idle_work},
    {{"constant-init", "the file fills its weights with more than one number"}, constant_init},
    // Last: it reports only what was not found with ordinary inputs.
    {{"hidden-op", "every op has an effect with the tensors that the file makes"}, hidden_ops},
};

constexpr RuleInfo kScaleRules[] = {
    {"trivial-reduction", "no op works along an extent of 1 at the benchmark shape"},
    {"below-tolerance", "outputs at the benchmark shape are larger than usual tolerances"},
    {"sampled-answer", "a part of the inputs does not determine the outputs"},
    {"few-rows", "PyTorch computes one row per block: rows are many, or short"},
};
constexpr RuleInfo kKillRule{"kill-rate", "the judge stops every imposter"};
constexpr RuleInfo kStateRule{"kept-state", "a second call of the reference computes the same"};
constexpr RuleInfo kLaunchRule{"launch-bound",
                               "the benchmark shape takes longer than an empty launch"};

/// The time limit of one task.
class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds), start_(Clock::now()) {}
  bool over() const {
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - start_).count() > seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point start_;
};

}  // namespace

// With bool inputs only, any() and all() of an even draw are constant beyond a few elements.
std::string family_for(const task::Task& task, int turn) {
  bool bools = false, floats = false;
  for (const task::TensorSpec& input : task.inputs) {
    bools = bools || input.dtype == tensor::DType::Bool;
    floats = floats || tensor::is_float(input.dtype);
  }
  if (!bools || floats) return "normal";
  constexpr const char* kTurns[] = {"spikes", "heavy", "normal"};
  return kTurns[turn % 3];
}

namespace {

Result<std::vector<LintCase>> draw(const task::Task& task, ports::Oracle& oracle,
                                   const LintOptions& options, const ports::TruthOptions& truth,
                                   const Deadline& deadline, Report* report) {
  shapes::ShapeLimits limits;
  limits.work = limits.large_work = options.work;
  limits.most_work = kMostTimes * options.work;
  limits.derive = false;
  shapes::ShapePlan plan = KW_TRY(shapes::plan_shapes(task, limits));
  report->left_out = plan.left_out;
  std::vector<LintCase> cases;
  // Benchmark shapes come first, because they matter most when time is short.
  std::ranges::stable_partition(plan.cases, &shapes::ShapeCase::benchmark);
  for (shapes::ShapeCase& shape : plan.cases) {
    if (deadline.over() && !cases.empty()) {
      report->left_out.push_back(task::dims_text(shape.dims) + ": out of time");
      continue;
    }
    LintCase at{shape.dims, std::move(shape.graph), shape.benchmark, {}};
    at.first = cases.empty();
    for (int s = 0; s < options.seeds; ++s) {
      Sample sample;
      sample.seed = inputs::derive_seed(options.seed, static_cast<uint64_t>(s));
      sample.inputs =
          KW_TRY(inputs::draw_inputs(task, at.graph, at.dims, family_for(task, s), sample.seed));
      sample.truths = KW_TRY(oracle.truth(at.graph, sample.inputs, truth));
      at.samples.push_back(std::move(sample));
    }
    report->shapes.push_back(task::dims_text(at.dims));
    cases.push_back(std::move(at));
  }
  return cases;
}

/// Sends the gate's imposters through every cell that the gate would use on the virtual GPU.
/// `options.work` limits the shapes.
Status imposters(const task::Task& task, ports::Oracle& oracle, const LintOptions& options,
                 const Deadline& deadline, Report* report) {
  shapes::ShapeLimits limits = shapes::virtual_limits();
  const double scale = options.work / limits.work;
  limits.work *= scale;
  limits.large_work *= scale;
  shapes::ShapePlan shapes = KW_TRY(shapes::plan_shapes(task, limits));
  gate::PoolOptions pool_options;
  pool_options.seed = options.seed;
  pool_options.threads = options.threads;
  const auto entropy = [&options]() -> Result<uint64_t> { return options.seed; };
  gate::Pool pool =
      KW_TRY(gate::Pool::make(task, oracle, std::move(shapes), pool_options, entropy));
  Result<gate::KillReport> tried =
      gate::kill_rate(pool, oracle, [&deadline] { return deadline.over(); });
  if (!tried && deadline.over()) {
    report->left_out.push_back("imposters: out of time");
    return Done{};
  }
  const gate::KillReport kills = KW_TRY(std::move(tried));
  for (const gate::ImposterRow& row : kills.rows) {
    if (row.equivalent) report->equivalent.push_back(row.name);
  }
  if (kills.applicable() == 0) return Done{};
  if (std::ranges::all_of(kills.rows,
                          [](const gate::ImposterRow& row) { return row.tried == 0; })) {
    report->findings.push_back({kKillRule.name, Severity::Error, "",
                                "nothing was judged: no shape of the task is small enough for it "
                                "here; list a smaller one",
                                "", 0});
    return Done{};
  }
  report->kill_rate = static_cast<double>(kills.killed()) / static_cast<double>(kills.applicable());
  for (const gate::ImposterRow& row : kills.rows) {
    if (!row.survived()) continue;
    report->findings.push_back(
        {kKillRule.name, Severity::Error, row.name,
         fmt::format("the imposter '{}' passes in all {} cells", row.name, row.tried), "", 0});
  }
  return Done{};
}

/// Examines the benchmark shapes in full size.
void launch_bound(const task::Task& task, Report* report) {
  for (const task::Dims& dims : task.benchmark_shapes) {
    const Result<graph::Graph> graph = task.graph_at(dims);
    if (!graph) continue;  // plan_shapes has reported it
    const graph::Cost cost = graph::cost_of(*graph);
    const double bytes = cost.read_bytes + cost.write_bytes;
    if (bytes >= kLaunchBytes || cost.flops >= kLaunchFlops) continue;
    report->findings.push_back(
        {kLaunchRule.name, Severity::Warning, "",
         fmt::format("the benchmark shape moves {} and computes {:.3g} flops: its time is mostly "
                     "the launch",
                     human_bytes(static_cast<uint64_t>(bytes)), cost.flops),
         task::dims_text(dims), 0});
  }
}

/// Candidates do not receive such a weight, so omitting it gives no advantage. Running statistics
/// are correctly unused in training. But the task computes less than its module.
void unneeded_weights(const task::Task& task, Report* report) {
  for (const std::string& name : task.unneeded) {
    report->findings.push_back(
        {"init-impact", Severity::Warning, name,
         fmt::format("no output needs '{}': candidates are judged and timed without it", name), "",
         0});
  }
}

/// A kernel keeps no state, so it can match such a reference only on the first call.
void kept_state(const task::Task& task, Report* report) {
  if (!task.keeps_state) return;
  report->findings.push_back(
      {kStateRule.name, Severity::Error, "",
       "a second call of the reference computes something else than the first: make what it keeps "
       "an input, and return it",
       "", 0});
}

/// Merges equal findings of several shapes into one; puts errors first.
void tidy(Report* report) {
  std::vector<Finding> kept;
  std::set<std::string> seen;
  for (Finding& finding : report->findings) {
    const std::string key = fmt::format("{}|{}|{}", finding.rule, finding.subject, finding.line);
    if (seen.insert(key).second) kept.push_back(std::move(finding));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  report->findings = std::move(kept);
}

}  // namespace

const char* severity_name(Severity severity) {
  return severity == Severity::Error ? "error" : "warning";
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

void report(const char* rule, Severity severity, const std::string& subject, std::string message,
            const LintCase& at, Findings* out) {
  out->push_back({rule, severity, subject, std::move(message), task::dims_text(at.dims), 0});
}

bool Report::usable() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& f) { return f.severity == Severity::Error; });
}

const char* Report::verdict() const {
  const bool read = std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.rule == "unreadable"; });
  if (!read) return "unreadable";
  return !usable() ? "degenerate" : findings.empty() ? "fine" : "usable";
}

Result<Report> lint(const task::Task& task, ports::Oracle& oracle, const LintOptions& options) {
  Report report;
  report.task = task.name;
  report.path = task.source_path;
  ports::TruthOptions truth;
  truth.threads = options.threads;
  truth.allow_tf32 = task.precision.allow_tf32;
  truth.flush = task.precision.flush;
  LintContext context{task, oracle, options, truth};
  const Deadline deadline(options.seconds);
  const std::vector<LintCase> cases = KW_TRY(draw(task, oracle, options, truth, deadline, &report));
  bool first_timed = true;
  for (const LintCase& at : cases) {
    if (deadline.over() && &at != &cases.front()) {
      report.left_out.push_back(task::dims_text(at.dims) + ": out of time");
      continue;
    }
    for (const Rule& rule : kRules) KW_TRY(rule.apply(context, at, &report.findings));
    if (at.benchmark && first_timed) KW_TRY(benchmark_scale(context, at, &report.findings));
    first_timed = first_timed && !at.benchmark;
  }
  KW_TRY(imposters(task, oracle, options, deadline, &report));
  launch_bound(task, &report);
  unneeded_weights(task, &report);
  kept_state(task, &report);
  tidy(&report);
  return report;
}

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> all;
  for (const Rule& rule : kRules) all.push_back(rule.info);
  for (const RuleInfo& rule : kScaleRules) all.push_back(rule);
  all.push_back(kKillRule);
  all.push_back(kLaunchRule);
  all.push_back(kStateRule);
  return all;
}

}  // namespace kw::lint
