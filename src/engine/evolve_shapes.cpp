// Does the winner stay good where nobody tuned it? Its speed against the first generated kernel, at
// shapes the evolution never saw, beside the same at the shape it was tuned for. A kernel that was
// fitted to one shape shows here; what is wrong anywhere was refused by the gate before.
#include <fmt/core.h>

#include <algorithm>

#include "engine/evolve_work.h"
#include "engine/synthesis.h"
#include "kernel/methods.h"
#include "kernel/parse.h"
#include "os/scratch.h"

namespace kw::engine {
namespace {

constexpr size_t kMostUnseen = 4;
constexpr double kWorse = 1.1;  // against the baseline

/// Every dim that may change, changed alike; nothing when none can be.
std::optional<task::Dims> changed(const task::Task& task, const task::Dims& tuned,
                                  const std::function<int64_t(int64_t)>& change) {
  task::Dims dims = tuned;
  for (auto& [name, value] : dims) {
    const auto range = task.dims.find(name);
    if (range == task.dims.end() || value <= 1) continue;
    const int64_t multiple = std::max<int64_t>(1, range->second.multiple);
    int64_t next = change(value);
    if (next % multiple != 0) next += multiple - next % multiple;
    if (next >= range->second.low && next <= range->second.high) value = next;
  }
  return dims == tuned ? std::nullopt : std::optional(dims);
}

/// Both at one shape, on the same device.
struct BothTimes {
  double us = 0, baseline_us = 0;
  bool measured = false;
  std::string problem;
};

Result<BothTimes> times_at(Judge& judge, const record::Candidate& winner,
                           const record::Candidate& baseline) {
  BothTimes both;
  double* const places[] = {&both.us, &both.baseline_us};
  const record::Candidate* const candidates[] = {&winner, &baseline};
  for (int i = 0; i < 2; ++i) {
    const search::Look look = KW_TRY(judge.screen({*candidates[i]})).front();
    if (!look.refused.empty()) both.problem = look.refused;
    if (look.at_least) both.problem = "counting it was given up";
    *places[i] = look.us;
  }
  if (!judge.measures() || !both.problem.empty()) return both;
  const std::vector<search::Look> looks = KW_TRY(judge.measure({winner, baseline}));
  for (int i = 0; i < 2; ++i) {
    if (!looks[static_cast<size_t>(i)].refused.empty())
      both.problem = looks[static_cast<size_t>(i)].refused;
    *places[i] = looks[static_cast<size_t>(i)].us;
  }
  both.measured = both.problem.empty();
  return both;
}

}  // namespace

std::vector<task::Dims> unseen_shapes(const task::Task& task, const task::Dims& tuned,
                                      size_t most) {
  std::vector<task::Dims> wanted(task.benchmark_shapes.begin(), task.benchmark_shapes.end());
  const std::function<int64_t(int64_t)> changes[] = {
      [](int64_t value) { return value / 2; }, [](int64_t value) { return value * 2; },
      [](int64_t value) { return value + value / 3 + 1; },
      [](int64_t value) { return value - value / 5 - 1; }};
  for (const auto& change : changes) {
    if (const auto dims = changed(task, tuned, change)) wanted.push_back(*dims);
  }
  std::vector<task::Dims> list;
  for (const task::Dims& dims : wanted) {
    const bool known = dims == tuned || std::ranges::find(list, dims) != list.end();
    if (list.size() < most && !known && task.reference->trace(dims)) list.push_back(dims);
  }
  return list;
}

Result<record::Candidate> Synthesis::first_generated() const {
  const std::string& name = evolving_->designs->names().front();
  const std::string text = KW_TRY(evolving_->designs->text(name, false));
  const kernel::ParseOutcome parsed = kernel::parse(text, "module.cu");
  if (!parsed.module) return Error{Blame::Bug, "the first design is no module"};
  return record::make_candidate(text, KW_TRY(kernel::default_tunes(*parsed.module)), "builtin",
                                name);
}

// With a judge, lanes and a folder of its own: what is known about the winner stays as it is.
Status Synthesis::try_unseen() {
  const record::Candidate winner = archive_.at(*outcome_->winner).candidate;
  const record::Candidate baseline = KW_TRY(first_generated());
  const os::ScratchFolder folder = KW_TRY(os::ScratchFolder::make("compile"));
  store::RunInputs inputs;
  inputs.name = task_->name;
  store::Run scratch = KW_TRY(store::Run::create({"", folder.path() + "/unseen"}, inputs));
  std::vector<task::Dims> shapes = unseen_shapes(*task_, judge_->dims(), kMostUnseen);
  shapes.insert(shapes.begin(), judge_->dims());
  double tuned = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    task::Task at = *task_;
    at.benchmark_shapes = {shapes[i]};
    tell("generalise", task::dims_text(shapes[i]));
    const auto looked = [&]() -> Result<BothTimes> {
      const std::unique_ptr<Lanes> lanes = Lanes::single(tools_);
      JudgeRequest ask = judge_request();
      ask.task = &at;
      ask.all_shapes = false;
      const std::unique_ptr<Judge> judge = KW_TRY(Judge::make(ask, *lanes, scratch, {}));
      return times_at(*judge, winner, baseline);
    }();
    if (!looked && looked.error().blame != Blame::Input) return looked.error();
    UnseenShape row;
    row.dims = task::dims_text(shapes[i]);
    row.problem = looked ? looked->problem : looked.error().message;
    const bool known = row.problem.empty() && looked->us > 0 && looked->baseline_us > 0;
    if (known) {
      row.us = looked->us;
      row.baseline_us = looked->baseline_us;
      row.measured = looked->measured;
    }
    if (i == 0) {
      if (known) tuned = row.baseline_us / row.us;
      continue;
    }
    if (known && tuned > 0) row.relative = row.baseline_us / row.us / tuned;
    row.flagged = row.relative > 0 && row.relative * kWorse < 1;
    evolving_->unseen.push_back(std::move(row));
  }
  return Done{};
}

// A winner is one whatever comes of this.
void Synthesis::generalise() {
  if (!report_.passed) return;
  const double begin = seconds();
  const Status done = guarded(&Synthesis::try_unseen);
  traces_.push_back({"generalise", 1, static_cast<bool>(done), seconds() - begin});
  if (!done) report_.warnings.push_back("unseen shapes were not tried: " + done.error().message);
  for (const UnseenShape& shape : evolving_->unseen) {
    if (shape.flagged)
      report_.warnings.push_back(fmt::format(
          "it does not generalise: at {} it keeps {:.2f} of what it gains over the first "
          "generated kernel at the tuned shape ({})",
          shape.dims, shape.relative, shape.measured ? "measured" : "estimated"));
  }
}

}  // namespace kw::engine
