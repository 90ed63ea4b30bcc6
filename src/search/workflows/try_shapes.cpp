// A kernel may be fast only at the shape it was tuned for. So the winner is compared with the first
// generated kernel at up to five other shapes: other benchmark shapes of the task, then one dim
// smaller, larger or odd. Its speedup there is divided by its speedup at the tuned shape, and a
// loss of more than 10 % is a warning. Correctness is not the question here; the gate has checked
// that. Absolute times were the alternative; they differ between shapes by nature. The cost is one
// more judge per shape, in a scratch folder.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "core/contains.h"
#include "graph/cost.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "os/scratch.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostUnseen = 5, kMostOfTheTask = 2;
constexpr double kWorse = 1.1;  // times worse than at the tuned shape
// Limits of a larger shape: times the bytes of the tuned one, and bytes in total.
constexpr double kMostTimes = 2.5, kMostShapeBytes = 8e9;

/// The bytes that the reference moves there; not set when it does not run.
std::optional<double> bytes_at(const task::Task& task, const task::Dims& dims) {
  const Result<graph::Graph> graph = task.graph_at(dims);
  if (!graph) return std::nullopt;
  const graph::Cost cost = graph::cost_of(*graph);
  return cost.read_bytes + cost.write_bytes;
}

/// The nearest allowed extent in steps of the dim's multiple; the same extent when there is none.
int64_t legal_extent(const task::DimRange& range, int64_t from, int64_t wanted) {
  const int64_t next = range.up(wanted);
  return range.takes(next) ? next : from;
}

/// An odd number of multiples, about a fifth fewer: tuned block sizes do not divide it.
int64_t odd_extent(const task::DimRange& range, int64_t value) {
  const int64_t steps = value / range.multiple;
  return legal_extent(range, value, ((steps - steps / 5) | 1) * range.multiple);
}

/// The dims that may change, the largest extent first.
std::vector<std::string> free_dims(const task::Task& task, const task::Dims& tuned) {
  std::vector<std::string> names;
  for (const auto& [name, value] : tuned) {
    if (task.dims.count(name) > 0 && value > 1) names.push_back(name);
  }
  std::ranges::stable_sort(names, std::greater(),
                           [&](const std::string& name) { return tuned.at(name); });
  return names;
}

enum class Change : uint8_t { Smaller, Larger, Odd };

/// The shape with one dim changed in this way; not set when it is impossible or too large.
std::optional<task::Dims> one_changed(const task::Task& task, const task::Dims& tuned,
                                      const std::string& name, Change how) {
  const task::DimRange& range = task.dims.at(name);
  const int64_t value = tuned.at(name);
  std::vector<int64_t> wanted = {legal_extent(range, value, value / 2)};
  if (how == Change::Odd) wanted = {odd_extent(range, value)};
  if (how == Change::Larger)
    wanted = {legal_extent(range, value, value * 2), legal_extent(range, value, value + value / 4)};
  const double most =
      std::min(kMostShapeBytes, kMostTimes * bytes_at(task, tuned).value_or(kMostShapeBytes));
  for (const int64_t extent : wanted) {
    task::Dims dims = tuned;
    dims[name] = extent;
    const auto bytes = extent == value ? std::nullopt : bytes_at(task, dims);
    if (bytes && (how != Change::Larger || *bytes <= most)) return dims;
  }
  return std::nullopt;
}

/// The shape with every free dim changed in the same way; not set when none can change.
std::optional<task::Dims> changed(const task::Task& task, const task::Dims& tuned,
                                  const std::function<int64_t(int64_t)>& change) {
  task::Dims dims = tuned;
  for (auto& [name, value] : dims) {
    const auto range = task.dims.find(name);
    if (range == task.dims.end() || value <= 1) continue;
    value = legal_extent(range->second, value, change(value));
  }
  return dims == tuned ? std::nullopt : std::optional(dims);
}

/// The times of both kernels at the shape of this judge.
Result<UnseenShape> times_at(judge::LocalJudge& judge, const record::Candidate& winner,
                             const record::Candidate& baseline) {
  UnseenShape both;
  double* const places[] = {&both.us, &both.baseline_us};
  const record::Candidate* const candidates[] = {&winner, &baseline};
  for (int i = 0; i < 2; ++i) {
    const ports::Outcome look =
        KW_TRY(judge.examine({*candidates[i]}, ports::Depth::Screen)).front();
    if (!look.refused.empty()) both.problem = look.refused;
    if (look.is_lower_bound) both.problem = "its work was not counted to the end";
    *places[i] = look.us;
  }
  if (!judge.has_clock() || !both.problem.empty()) return both;
  const std::vector<ports::Outcome> looks =
      KW_TRY(judge.examine({winner, baseline}, ports::Depth::Time));
  for (int i = 0; i < 2; ++i) {
    if (!looks[static_cast<size_t>(i)].refused.empty())
      both.problem = looks[static_cast<size_t>(i)].refused;
    *places[i] = looks[static_cast<size_t>(i)].us;
  }
  both.measured = both.problem.empty();
  return both;
}

/// The first kernel that code generation writes for the task.
Result<record::Candidate> first_generated(TaskDesigns& designs) {
  const std::string& name = designs.names().front();
  const std::string text = KW_TRY(designs.text(name, false));
  const kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return Error{Blame::Bug, "the first design is not a module"};
  return record::make_candidate(text, KW_TRY(kernel::default_tunes(*parsed.module)), "builtin",
                                name);
}

/// The row of one shape. An input Error is the shape's problem. Uses its own judge and lanes.
Result<UnseenShape> row_at(const Session& session, const task::Dims& dims,
                           const record::Candidate& winner, const record::Candidate& baseline,
                           store::Run& scratch) {
  task::Task at = *session.task;
  at.benchmark_shapes = {dims};
  const auto looked = [&]() -> Result<UnseenShape> {
    const std::unique_ptr<timing::Lanes> lanes = timing::Lanes::single(session.tools);
    judge::JudgeRequest ask = judge_request(session);
    ask.task = &at;
    ask.all_shapes = false;
    const std::unique_ptr<judge::LocalJudge> judge =
        KW_TRY(judge::LocalJudge::make(ask, *lanes, scratch, {}));
    return times_at(*judge, winner, baseline);
  }();
  if (!looked && looked.error().blame != Blame::Input) return looked.error();
  UnseenShape row = looked ? *looked : UnseenShape();
  row.dims = task::dims_text(dims);
  if (!looked) row.problem = looked.error().message;
  if (row.problem.empty() && row.us > 0 && row.baseline_us > 0) return row;
  row.us = row.baseline_us = 0;
  row.measured = false;
  return row;
}

// In a folder of its own, so the winner's results do not change. The tuned shape comes first.
Status try_unseen(Session& session) {
  const record::Candidate winner = session.archive.at(*session.outcome->winner).candidate;
  const record::Candidate baseline = KW_TRY(first_generated(*session.evolution->designs));
  const os::ScratchFolder folder = KW_TRY(os::ScratchFolder::make("compile"));
  store::RunInputs inputs;
  inputs.name = session.task->name;
  store::Run scratch = KW_TRY(store::Run::create({"", folder.path() + "/unseen"}, inputs));
  std::vector<task::Dims> shapes = unseen_shapes(*session.task, session.judge->dims(), kMostUnseen);
  shapes.insert(shapes.begin(), session.judge->dims());
  double tuned = 0;
  for (const task::Dims& dims : shapes) {
    report_progress(session, "generalise", task::dims_text(dims));
    UnseenShape row = KW_TRY(row_at(session, dims, winner, baseline, scratch));
    const double speedup = row.us > 0 ? row.baseline_us / row.us : 0;
    if (&dims == &shapes.front()) {
      tuned = speedup;
      continue;
    }
    if (tuned > 0) row.relative = speedup / tuned;
    row.flagged = row.relative > 0 && row.relative * kWorse < 1;
    session.evolution->unseen.push_back(std::move(row));
  }
  return Done{};
}

}  // namespace

std::vector<task::Dims> unseen_shapes(const task::Task& task, const task::Dims& tuned,
                                      size_t most) {
  std::vector<task::Dims> list;
  const auto add = [&](const task::Dims& dims) {
    const bool known = dims == tuned || contains(list, dims);
    if (list.size() < most && !known && task.graph_at(dims)) list.push_back(dims);
  };
  for (const task::Dims& dims : task.benchmark_shapes) {
    if (list.size() < kMostOfTheTask) add(dims);
  }
  const std::vector<std::string> names = free_dims(task, tuned);
  constexpr Change kChanges[] = {Change::Smaller, Change::Larger, Change::Odd};
  // In turn, so that every dim and every kind of change is used before one repeats. If a dim cannot
  // change in this way, the next one is tried.
  const size_t rounds = std::max(names.size(), std::size(kChanges));
  for (size_t i = 0; i < rounds && !names.empty(); ++i) {
    for (size_t k = 0; k < names.size(); ++k) {
      const auto dims = one_changed(task, tuned, names[(i + k) % names.size()],
                                    kChanges[i % std::size(kChanges)]);
      const size_t before = list.size();
      if (dims) add(*dims);
      if (list.size() > before) break;
    }
  }
  if (!list.empty()) return list;
  // Dims that can change only together.
  const std::function<int64_t(int64_t)> together[] = {
      [](int64_t value) { return value / 2; }, [](int64_t value) { return value + value / 8 + 1; }};
  for (const auto& change : together) {
    if (const auto dims = changed(task, tuned, change)) add(*dims);
  }
  return list;
}

// A failure here does not change that the winner passed.
Status try_shapes(Session& session) {
  if (!session.report.passed) return Done{};
  std::vector<std::string>& warnings = session.report.warnings;
  const Status done = traced(session, "generalise", try_unseen);
  if (!done) warnings.push_back("unseen shapes were not tried: " + done.error().message);
  for (const UnseenShape& shape : session.evolution->unseen) {
    if (shape.flagged)
      warnings.push_back(fmt::format(
          "it does not generalise: at {} it keeps {:.2f} of what it gains over the first "
          "generated kernel at the tuned shape ({})",
          shape.dims, shape.relative, shape.measured ? "measured" : "estimated"));
  }
  return Done{};
}

}  // namespace kw::workflows
