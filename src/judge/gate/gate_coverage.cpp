// The problem: shapes from a list cannot show that a kernel is right behind its own limits, and cut
// shapes cannot show that it is right at the shape that is timed. So the judge also runs shapes
// that the module itself suggests, one that selects each launch group, and every benchmark shape
// uncut. Each launch group ends in one of three states: run, unreachable (shown by evaluating the
// guards), or unaffordable. What is unaffordable does not reject a candidate: a path for more than
// 2^31 elements is ordinary. It limits what the verdict says: "PASSED below …", not complete and
// never certified. Rejecting was the alternative; it would refuse most honest modules. The cost is
// up to `budget_seconds` of the device for each verdict; a screening skips all of this.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "core/contains.h"
#include "core/text.h"
#include "gate/gate_stages.h"
#include "inputs/families.h"
#include "os/memory.h"
#include "shapes/module_shapes.h"
#include "shapes/reach.h"
#include "shapes/scalar_cases.h"

namespace kw::gate {

namespace {

using record::Stage;

constexpr double kLeastSeconds = 30;     // for shapes that the module suggests
constexpr double kUnmeasuredRate = 1e8;  // work per second, before anything ran
constexpr double kRatedWork = 1e5;       // smaller cells measure only overhead
constexpr size_t kMostBranchShapes = 96, kIdleShapes = 16;
constexpr double kBranchWork = 1e7;   // of all these shapes
constexpr double kPlantedWork = 1e5;  // of a cell with enough elements for a few constants …
constexpr double kFewConstants = 12;  // … so many; for more, in proportion
constexpr double kMostPlantedWork = 1e7;
constexpr uint64_t kGrowth = 512;
constexpr int64_t kLadderStep = 33, kLadderSteps = 8, kMediumExtent = 1100;
constexpr int64_t kSlim = 64;       // extents of other dims that are tried
constexpr double kTruthBytes = 64;  // of memory per element, at most

}  // namespace

std::vector<std::string> cover_families(const task::Task& task, const graph::Graph& graph) {
  std::vector<std::string> families = {spikes_or_first(task), inputs::kImmediatesFamily};
  if (counts_bools(graph)) families.emplace_back("heavy");
  return families;
}

std::string count_text(double count) {
  const std::string digits = fmt::format("{:.0f}", count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string spikes_or_first(const task::Task& task) {
  const std::vector<std::string> all = inputs::families_for(task);
  return contains(all, "spikes") ? "spikes" : all.front();
}

bool fits_memory(const graph::Graph& graph) {
  double most = 0;
  for (const graph::Node& node : graph.nodes) {
    double elements = 1;
    for (const graph::Dim& dim : node.shape) elements *= static_cast<double>(dim.value());
    most = std::max(most, elements);
  }
  const auto available = static_cast<double>(os::available_memory());
  return available <= 0 || most * kTruthBytes < available / 2;
}

void Coverage::note_missing(std::string why, double elements) {
  missing_from = std::min(missing_from, elements);
  if (!contains(incomplete, why)) incomplete.push_back(std::move(why));
}

void Coverage::limit_to(const std::string& shape, double elements) {
  if (!below.empty() && elements >= below_elements) return;
  below = "below " + shape;
  below_elements = elements;
}

void Coverage::expect(const inputs::Immediates& code) {
  const auto count = static_cast<double>(std::max(code.compared_numbers, code.compared_integers));
  planted_work = std::min(kPlantedWork * std::max(count / kFewConstants, 1.0), kMostPlantedWork);
}

void Coverage::note_right(const shapes::ShapeCase& shape, const std::string& family,
                          const Judged& judged) {
  if (judged.group >= 0) ++group_cells[static_cast<size_t>(judged.group)];
  if (shape.stretched) return;  // not a shape to try others near, or to run again
  if (family == inputs::kImmediatesFamily && shape.work >= planted_work)
    planted.insert(judged.image);
  const auto code = shape_of_code.try_emplace(judged.image, &shape).first;
  const double known = code->second->work;
  if (known < planted_work ? shape.work > known : shape.work >= planted_work && shape.work < known)
    code->second = &shape;
  dims.insert(shape.dims);
  if (judged.group >= 0) {
    const auto at = least.try_emplace({judged.group, judged.image}, &shape).first;
    if (shape.work < at->second->work) at->second = &shape;
  }
  // The rate of the largest cell predicts larger ones best.
  if (shape.work < std::max(kRatedWork, rated_work) || judged.seconds <= 0) return;
  rated_work = shape.work;
  work_rate = shape.work / judged.seconds;
}

bool Coverage::out_of_time() const { return std::chrono::steady_clock::now() > end; }

double Coverage::affordable_work() const {
  const double run = work_rate > 0 ? work_rate : kUnmeasuredRate;
  const double truth = truth_rate > 0 ? truth_rate : kUnmeasuredRate;
  return budget_left / (1 / run + 1 / truth);
}

Result<Stop> Gate::cover_module(Bench& bench) {
  covered_.group_cells.resize(module_.groups.size());
  if (!request_.only.empty() || request_.budget_seconds <= 0) {
    covered_.note_missing(!request_.only.empty()
                              ? request_.only
                              : "screened only: large shapes were cut, and shapes "
                                "that the module suggests were not run");
    for (size_t i = 0; i < module_.groups.size(); ++i) {
      const kernel::Group& group = module_.groups[i];
      report_.groups.push_back({group.line, group.when ? group.when->text : "true",
                                covered_.group_cells[i] > 0 ? "run" : "not run", "", "",
                                covered_.group_cells[i]});
    }
    return Stop();
  }
  covered_.budget_left = request_.budget_seconds;
  // Half of the budget is for the benchmark shapes, if it is not small.
  const double seconds = std::max(request_.budget_seconds / 2, kLeastSeconds);
  covered_.end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(std::llround(1000 * seconds));
  const Pool& pool = *bench.at->pool;
  double truth_work = 0;
  for (const PoolCell& cell : pool.cells()) truth_work += pool.shape(cell).work;
  if (pool.seconds() > 0) covered_.truth_rate = truth_work / pool.seconds();
  std::vector<const shapes::ShapeCase*> known;
  for (const shapes::ShapeCase& shape : pool.shapes().cases) known.push_back(&shape);
  const shapes::PlanView view(module_, matching_, task(), bench.at->fixed, known);
  Stop stop = KW_TRY(SuggestedShapes(*this, bench).run(view));
  if (!stop) stop = KW_TRY(LargeExtents(*this, bench).run());
  if (!stop) stop = KW_TRY(run_branches(bench, view, shapes::virtual_limits().work));
  if (!stop) stop = KW_TRY(run_benchmarks(bench));
  if (!stop) stop = KW_TRY(run_groups(bench, view, covered_.affordable_work()));
  return stop ? std::move(stop) : judge_groups(view);
}

// A variant of the code may compare values, too, with constants that only it has. And it may
// compare what it computed: along a dim of extent 1 that is often the input itself. Runtime scalars
// may be compared, too.
Result<Stop> Gate::plant_constants(Bench& bench, double most_work) {
  const size_t left_out = virtual_.programs.immediates().left_out;
  if (left_out > 0)
    covered_.note_missing(fmt::format(
        "the code compares with too many constants: {} of them were not tried as values of inputs",
        left_out));
  const auto code = covered_.shape_of_code;
  for (const auto& [image, shape] : code) {
    if (covered_.planted.count(image) != 0 || covered_.out_of_time()) continue;
    Stop stop = KW_TRY(run_extra(bench, *shape, inputs::kImmediatesFamily));
    if (stop) return stop;
  }
  if (task().reference->is_slow()) return Stop();
  for (const auto& [image, shape] : code) {
    for (const auto& [name, range] : task().dims) {
      task::Dims dims = shape->dims;
      if (dims.count(name) == 0 || covered_.out_of_time()) continue;
      dims[name] = range.nearest(1);
      const shapes::DerivedShape made = KW_TRY(shapes::derive_shape(
          task(), bench.at->pool->shapes(), dims, "least extent of " + name, most_work));
      if (!made.shape) continue;
      Stop stop = KW_TRY(run_extra(bench, *made.shape, inputs::kImmediatesFamily));
      if (stop) return stop;
    }
  }
  for (const shapes::ShapeCase& one : KW_TRY(shapes::constant_scalar_cases(
           task(), bench.at->pool->shapes(), virtual_.programs.immediates(), most_work))) {
    if (covered_.out_of_time()) break;
    Stop stop = KW_TRY(run_extra(bench, one, "normal"));
    if (stop) return stop;
  }
  return Stop();
}

Result<Stop> Gate::run_extra(Bench& bench, const shapes::ShapeCase& shape,
                             const std::string& family) {
  KW_TRY(check_interrupt(request_));
  // A module may leave out what lies beside its own thresholds; that is not worth a line each.
  const auto selection = bench.programs.select(matching_, task(), shape.graph, shape.dims);
  if (!selection || told_.count(task::dims_text(shape.dims)) != 0) return Stop();
  const size_t cell = KW_TRY(bench.at->pool->extra_cell(shape, family, request_.entropy));
  return run_cell(bench, Stage::Numerics, cell);
}

namespace {

/// Another shape near one that ran. One extent grows by less than a few blocks of threads, which
/// changes what an unrolled loop leaves over, or each is drawn again around its old value.
task::Dims varied(const task::Task& task, const task::Dims& near, std::mt19937_64& random) {
  task::Dims dims = near;
  const bool grow = random() % 2 == 0;
  const size_t chosen = random() % std::max<size_t>(dims.size(), 1);
  size_t number = 0;
  for (auto& [name, extent] : dims) {
    const bool changes = grow ? number++ == chosen : random() % 2 == 0;
    if (!changes) continue;
    const double low = std::log(static_cast<double>(std::max<int64_t>(extent / 3, 1)));
    const double high = std::log(static_cast<double>(3 * extent + 8));
    const double drawn = low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
    const auto range = task.dims.find(name);
    const task::DimRange limits = range == task.dims.end() ? task::DimRange{} : range->second;
    const int64_t wanted = grow ? extent + 1 + static_cast<int64_t>(random() % kGrowth)
                                : static_cast<int64_t>(std::exp(drawn));
    extent = limits.nearest(std::max<int64_t>(wanted, 1));
  }
  return dims;
}

/// A shape with another extent of one dim.
struct Rung {
  task::Dims dims;
  std::string dim;
  bool medium = false;  // near a medium extent, not near the largest
};

/// The same shape with the other dims as small as its code allows.
task::Dims slim(Rung rung, const task::Task& task, const shapes::PlanView& view) {
  const std::string variant = view.variant_at(rung.dims);
  for (const auto& [name, range] : task.dims) {
    const int64_t most = rung.dims.at(name);
    for (int64_t small = range.nearest(1); name != rung.dim && small < most;
         small = range.up(small + 1)) {
      rung.dims.at(name) = small;
      if (view.variant_at(rung.dims) == variant) break;
      rung.dims.at(name) = most;
      if (small > kSlim) break;
    }
  }
  return rung.dims;
}

/// For each dim, the shapes that ran with its largest extent and with one of medium size, growing
/// in steps of a warp and one: every rest of a loop unrolled by up to eight, odd and even.
std::vector<Rung> ladders(const task::Task& task, const std::vector<task::Dims>& ran) {
  std::vector<Rung> all;
  std::set<task::Dims> known(ran.begin(), ran.end());
  for (const auto& [name, range] : task.dims) {
    for (const int64_t most : {kMediumExtent, range.high}) {
      if (most == range.high && task.reference->is_slow()) continue;
      const task::Dims* base = nullptr;
      for (const task::Dims& dims : ran) {
        const auto at = dims.find(name);
        if (at == dims.end() || at->second > most) continue;
        if (base == nullptr || at->second > base->at(name)) base = &dims;
      }
      for (int64_t step = 1; base != nullptr && step <= kLadderSteps; ++step) {
        task::Dims dims = *base;
        dims.at(name) = range.nearest(base->at(name) + step * kLadderStep);
        if (known.insert(dims).second) all.push_back({dims, name, most == kMediumExtent});
      }
    }
  }
  return all;
}

}  // namespace

// Code that no run executed can hold anything. An unrolled loop has a rest that only some extents
// reach, and no constant names them. So every rest is run; then shapes near those that ran are
// tried while they make some branch of the code go another way.
Result<Stop> Gate::run_branches(Bench& bench, const shapes::PlanView& view, double most_work) {
  if (!unknown_instruction_.empty() || covered_.dims.empty()) return Stop();
  const Pool& pool = *virtual_.at->pool;
  std::mt19937_64 random(pool.replayable() ? pool.cells().front().seed
                                           : KW_TRY(request_.entropy()));
  const std::vector<task::Dims> known(covered_.dims.begin(), covered_.dims.end());
  const std::vector<Rung> planned = ladders(task(), known);
  const double share = kBranchWork / static_cast<double>(planned.size() + kIdleShapes);
  size_t open = virtual_.programs.one_way_branches().size(), tried = 0, idle = 0;
  double work = 0;
  for (; idle < kIdleShapes && tried < kMostBranchShapes && !covered_.out_of_time(); ++tried) {
    const bool drawn = tried >= planned.size();
    if (drawn && (open == 0 || task().reference->is_slow())) break;
    const task::Dims dims =
        drawn ? varied(task(), known[random() % known.size()], random) : planned[tried].dims;
    const char* why = "may reach other code";
    shapes::DerivedShape made =
        KW_TRY(shapes::derive_shape(task(), pool.shapes(), dims, why, most_work));
    idle += drawn ? 1 : 0;
    if (!drawn && planned[tried].medium && (!made.shape || made.shape->work > share))
      made = KW_TRY(shapes::derive_shape(task(), pool.shapes(), slim(planned[tried], task(), view),
                                         why, most_work));
    if (!made.shape || work + made.shape->work > kBranchWork) continue;
    work += made.shape->work;
    made.shape->secret = true;
    Stop stop = KW_TRY(run_extra(virtual_, *made.shape, inputs::kImmediatesFamily));
    const size_t now = virtual_.programs.one_way_branches().size();
    if (!stop && (!drawn || now != open) && &bench != &virtual_)
      stop = KW_TRY(run_extra(bench, *made.shape, inputs::kImmediatesFamily));
    if (stop) return stop;
    if (now != open) idle = 0;  // a shape may also bring new code, with branches of its own
    open = now;
  }
  const std::vector<int> lines = virtual_.programs.one_way_branches();
  std::set<int> distinct(lines.begin(), lines.end());
  std::vector<std::string> names;
  for (const int line : distinct) names.push_back(std::to_string(line));
  if (!names.empty())
    say(fmt::format(
        "{} more shapes tried; branches that took one direction in every run: line{} {}", tried,
        names.size() == 1 ? "" : "s", join(names, ", ")));
  return Stop();
}

// Runs every group that did not run yet at the smallest shape that selects it, if that is cheap.
Result<Stop> Gate::run_groups(Bench& bench, const shapes::PlanView& view, double most_work) {
  const bool open =
      std::ranges::any_of(covered_.group_cells, [](int64_t cells) { return cells == 0; });
  if (!open) return Stop();
  if (covered_.group_shapes.empty()) {
    std::vector<task::Dims> known = bench.at->pool->shapes().demanded;
    known.insert(known.end(), covered_.dims.begin(), covered_.dims.end());
    covered_.group_shapes = shapes::shapes_of_groups(view, shapes::plan_thresholds(module_), known);
  }
  for (size_t i = 0; i < covered_.group_shapes.size(); ++i) {
    if (covered_.group_cells[i] > 0 || !covered_.group_shapes[i]) continue;
    const shapes::DerivedShape made = KW_TRY(shapes::derive_shape(
        task(), bench.at->pool->shapes(), *covered_.group_shapes[i],
        fmt::format("selects the launch group of line {}", module_.groups[i].line), most_work));
    if (!made.costly && !made.shape) covered_.group_refused[i] = made.refused;
    if (!made.shape || !fits_memory(made.shape->graph)) continue;
    for (const std::string& family : cover_families(task(), made.shape->graph)) {
      Stop stop = KW_TRY(run_extra(bench, *made.shape, family));
      if (stop) return stop;
    }
    if (covered_.group_cells[i] == 0)
      covered_.group_refused[i] =
          fmt::format("at {} it was not judged", task::dims_text(*covered_.group_shapes[i]));
  }
  return Stop();
}

Result<Stop> Gate::run_benchmarks(Bench& bench) {
  for (const task::Dims& dims : bench.at->pool->shapes().demanded) {
    if (covered_.dims.count(dims) != 0) continue;
    KW_TRY(check_interrupt(request_));
    shapes::ShapeCase whole{dims, "benchmark shape, uncut",      true,
                            true, KW_TRY(task().graph_at(dims)), 0};
    whole.work = shapes::work_of(whole.graph);
    const double elements = shapes::largest_tensor(task(), dims);
    if (whole.work > covered_.affordable_work() || !fits_memory(whole.graph)) {
      covered_.note_missing(
          fmt::format("{}: the benchmark shape was not run uncut: it does not fit "
                      "--budget-seconds {:g} or the memory of this machine",
                      task::dims_text(dims), request_.budget_seconds));
      covered_.limit_to(task::dims_text(dims), elements);
      continue;
    }
    Stop stop = KW_TRY(run_whole(bench, whole));
    if (stop) return stop;
    if (covered_.dims.count(dims) == 0) covered_.limit_to(task::dims_text(dims), elements);
  }
  return Stop();
}

Result<Stop> Gate::run_whole(Bench& bench, const shapes::ShapeCase& shape) {
  Pool& pool = *bench.at->pool;
  const std::string where = task::dims_text(shape.dims);
  const size_t cell = KW_TRY(pool.extra_cell(shape, spikes_or_first(task()), request_.entropy));
  const double before = pool.seconds();
  const Result<SetPtr> set = pool.set(cell);
  covered_.budget_left -= pool.seconds() - before;
  if (!set) {
    if (set.error().blame != Blame::Environment) return set.error();
    covered_.note_missing(
        fmt::format("{}: the benchmark shape was not run uncut: {}", where, set.error().message));
    return Stop();
  }
  CellRunner runs = runner(bench, {});
  runs.options.timeout_seconds = std::max(covered_.budget_left, 1.0);
  const Judged judged = KW_TRY(runs.run(pool.shape(pool.cell(cell)), **set));
  covered_.budget_left -= judged.seconds;
  note_cell(bench, Stage::Numerics, cell, judged);
  if (judged.result == CellResult::NoEvidence) {
    covered_.note_missing(
        fmt::format("{}: the benchmark shape was not run uncut within "
                    "--budget-seconds {:g}: {}",
                    where, request_.budget_seconds, judged.reason));
    return Stop();
  }
  if (judged.compile_failed) report_.compile_failed = judged.compile_failed;
  if (!judged.failed()) {
    if (judged.result == CellResult::Right) say(where + ": the benchmark shape, uncut");
    return Stop();
  }
  KW_TRY(check_alive(bench, judged));
  return Stop(KW_TRY(verdict_of(bench, cell, judged, {}, Stage::Numerics)));
}

// A group that some shape selects, that is affordable and that did not run, rejects.
Stop Gate::judge_groups(const shapes::PlanView& view) {
  for (size_t i = 0; i < module_.groups.size(); ++i) {
    const kernel::Group& group = module_.groups[i];
    GroupReport report{
        group.line, group.when ? group.when->text : "true", "run", "", "", covered_.group_cells[i]};
    const std::optional<task::Dims> shape =
        i < covered_.group_shapes.size() ? covered_.group_shapes[i] : std::optional<task::Dims>();
    const auto unserved = covered_.group_unserved.find(i);
    if (covered_.group_cells[i] == 0 && unserved != covered_.group_unserved.end()) {
      return record::Rejected{
          Stage::Static,
          fmt::format("line {}: the launches under 'when {}' can never run: at {}", group.line,
                      report.when, unserved->second),
          std::nullopt, request_.repro.line()};
    }
    if (covered_.group_cells[i] == 0) {
      report.why = shape ? "" : shapes::why_unreachable(view, static_cast<int>(i));
      report.state = report.why.empty() ? "unaffordable" : "unreachable";
    }
    if (report.state == "unaffordable" && covered_.group_refused.count(i) != 0) {
      report.why = covered_.group_refused[i];
      if (covered_.below.empty())
        covered_.below = fmt::format("except the launches of line {}", group.line);
    } else if (report.state == "unaffordable" && shape) {
      const double elements = shapes::largest_tensor(task(), *shape);
      report.needs = task::dims_text(*shape);
      report.why = fmt::format("it needs {}, {} elements", report.needs, count_text(elements));
      covered_.limit_to(count_text(elements) + " elements", elements);
    } else if (report.state == "unaffordable") {
      report.why = "no shape was found that selects it";
      if (covered_.below.empty())
        covered_.below = fmt::format("except the launches of line {}", group.line);
    }
    if (report.state == "unaffordable") {
      const bool known = !report.needs.empty();
      covered_.note_missing(fmt::format("line {}: the launches under 'when {}' did not run: {}",
                                        group.line, report.when, report.why),
                            known ? shapes::largest_tensor(task(), *shape) : 0);
    }
    report_.groups.push_back(std::move(report));
  }
  return Stop();
}

}  // namespace kw::gate
