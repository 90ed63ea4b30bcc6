// The problem: a task has many correct kernel modules, and only measuring tells which is fast. The
// choice: designs are lists of choices, best guess first, and a module is written for one design.
// The alternative, searching here, would need a device. The cost: every design traces and
// partitions the whole graph again.
#include "plan/codegen.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "core/contains.h"
#include "core/text.h"
#include "plan/distinct.h"
#include "plan/even.h"
#include "plan/module_text.h"
#include "plan/partition.h"
#include "plan/schedule.h"
#include "plan/switches.h"

namespace kw::generate {

namespace {

/// The traces of a task, ready to be partitioned: first the one at the first benchmark shape, then
/// those for shapes that break its guards.
struct Traces {
  Names names;
  std::vector<std::unique_ptr<Program>> programs;
};

Result<bool> holds(const task::Task& task, const std::vector<std::string>& guards,
                   const task::Dims& at) {
  task::TensorSpec spec;
  spec.name = "guard";
  spec.shape = guards;
  const std::vector<int64_t> values = KW_TRY(task.shape_of(spec, at));
  return !contains(values, 0);
}

bool same_number(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

/// Whether the traces have different operations or constants.
bool differ(const Graph& one, const Graph& other) {
  if (one.nodes.size() != other.nodes.size()) return true;
  for (size_t i = 0; i < one.nodes.size(); ++i) {
    const Node &a = one.nodes[i], &b = other.nodes[i];
    if (a.op != b.op || a.inputs != b.inputs) return true;
    if (a.op != Op::Constant) continue;
    if (a.attrs.number_text != b.attrs.number_text) return true;
    if (!a.attrs.is_literal()) continue;
    if (!same_number(a.attrs.number, b.attrs.number) || a.attrs.integer != b.attrs.integer)
      return true;
  }
  return false;
}

/// Another value of one dim at which the trace at `shape` is still valid; empty if no near value
/// is.
Result<std::optional<task::Dims>> neighbour(const task::Task& task, const Graph& graph,
                                            const task::Dims& shape, const std::string& dim) {
  const auto range = task.dims.find(dim);
  const task::DimRange limits = range == task.dims.end() ? task::DimRange{} : range->second;
  const int64_t value = shape.at(dim), step = limits.multiple;
  for (const int64_t other : {value + step, value + 2 * step, 2 * value, value - step}) {
    task::Dims at = shape;
    at[dim] = other;
    if (other < 1 || !limits.takes(other) || other == value) continue;
    if (KW_TRY(holds(task, graph.guards, at))) return std::optional<task::Dims>(at);
  }
  return std::optional<task::Dims>();
}

/// Some constants and operations depend on dims without an expression, as in `D ** 0.5`. They
/// restrict the trace to its dims: "D == 64".
Result<std::vector<std::string>> tied_dims(const task::Task& task, const Graph& graph,
                                           const task::Dims& shape) {
  std::vector<std::string> guards;
  for (const auto& [dim, value] : shape) {
    const std::optional<task::Dims> at = KW_TRY(neighbour(task, graph, shape, dim));
    if (!at) continue;
    const Result<Graph> other = task.reference->trace(*at);
    if (other && differ(graph, *other)) {
      guards.push_back(fmt::format("{} == {}", dim, value));
    }
  }
  return guards;
}

Result<Traces> trace(const task::Task& task, const Options& options) {
  Traces traces;
  std::vector<task::Dims> shapes = task.benchmark_shapes;
  shapes.insert(shapes.end(), task.correctness_shapes.begin(), task.correctness_shapes.end());
  for (const task::Dims& shape : shapes) {
    bool covered = false;
    for (const auto& program : traces.programs) {
      covered = covered || KW_TRY(holds(task, program->guards, shape));
    }
    if (covered) continue;
    Result<Graph> traced = task.graph_at(shape);
    if (!traced) return std::move(traced).error().context("at " + task::dims_text(shape));
    Graph graph = std::move(traced).value();
    const std::vector<std::string> tied = KW_TRY(tied_dims(task, graph, shape));
    graph.guards.insert(graph.guards.end(), tied.begin(), tied.end());
    if (traces.programs.empty()) traces.names = names_of(task, graph);
    if (const auto even = with_even_quotients(graph, shape)) {
      traces.programs.push_back(
          std::make_unique<Program>(KW_TRY(make_program(*even, traces.names, options))));
      traces.programs.back()->special = true;
    }
    traces.programs.push_back(
        std::make_unique<Program>(KW_TRY(make_program(graph, traces.names, options))));
  }
  const std::string base = traces.names.kernel;
  for (size_t i = 0; i < traces.programs.size(); ++i) {
    traces.programs[i]->names = traces.names;
    if (i > 0) traces.programs[i]->names.kernel = fmt::format("{}_shape{}", base, i + 1);
  }
  return traces;
}

TargetContext situation_of(const task::Task& task, const Options& options) {
  TargetContext context;
  context.target = options.target;
  context.precision = task.precision;
  context.switches = options.switches;
  return context;
}

Design first_design(const Partition& partition, const TargetContext& context) {
  Design design;
  for (const Region& region : partition.regions) {
    design.choices.push_back({region.name, schedules_for(region, context).front()->name});
  }
  return design;
}

void add_if_new(std::vector<Design>& designs, Design design) {
  if (!contains(designs, design)) {
    designs.push_back(std::move(design));
  }
}

Result<Kernel> emitted(const Region& region, const std::string& name,
                       const TargetContext& context) {
  const Schedule* row = find_schedule(name);
  if (row == nullptr || !row->applies(region, context))
    return input_error("schedule '{}' does not apply to kernel '{}'", name, region.name);
  Kernel kernel = row->emit(region, context);
  if (kernel.cut_short)
    return input_error("schedule '{}': one thread of kernel '{}' would compute too many values",
                       name, region.name);
  return kernel;
}

/// The way to partition the first program into the design's number of kernels. Other traces are
/// partitioned the same way; their number of kernels may differ.
Result<Fusing> fusing_of(const Program& program, const TargetContext& context,
                         const Design& design) {
  size_t most = 0;
  for (const Fusing fusing : {Fusing::Chains, Fusing::Pairs, Fusing::None}) {
    const size_t count = make_partition(program, context, fusing).regions.size();
    if (count == design.choices.size()) return fusing;
    most = std::max(most, count);
  }
  return input_error("the design has {} kernels, the task needs {}", design.choices.size(), most);
}

}  // namespace

std::string design_text(const Design& design) {
  std::vector<std::string> texts;
  for (const Choice& choice : design.choices)
    texts.push_back(choice.kernel + "=" + choice.schedule);
  return join(texts, " ");
}

Result<std::vector<std::string>> frozen_dims(const task::Task& task) {
  const task::Dims& shape = task.benchmark_shapes.front();
  const Graph graph = KW_TRY(task.graph_at(shape));
  std::vector<std::string> frozen;
  const std::vector<std::string> tied = KW_TRY(tied_dims(task, graph, shape));
  for (const auto& [dim, value] : shape) {
    const std::string condition = fmt::format("{} == {}", dim, value);
    if (contains(graph.guards, condition) || contains(tied, condition)) frozen.push_back(condition);
  }
  return frozen;
}

Result<std::vector<Design>> designs(const task::Task& task, const Options& options) {
  const Traces traces = KW_TRY(trace(task, options));
  const TargetContext context = situation_of(task, options);
  const Partition fused = make_partition(*traces.programs[0], context, Fusing::Chains);
  std::vector<Design> all;
  const Design best = first_design(fused, context);
  add_if_new(all, best);
  for (size_t k = 0; k < fused.regions.size(); ++k) {
    for (const Schedule* row : schedules_for(fused.regions[k], context)) {
      Design other = best;
      other.choices[k].schedule = row->name;
      if (fused.regions.size() <= 6 || row->fuses) add_if_new(all, other);
    }
  }
  const Partition pairs = make_partition(*traces.programs[0], context, Fusing::Pairs);
  add_if_new(all, first_design(pairs, context));
  const Partition single = make_partition(*traces.programs[0], context, Fusing::None);
  add_if_new(all, first_design(single, context));
  Design floor = first_design(single, context);
  for (Choice& choice : floor.choices) choice.schedule = "generic";
  add_if_new(all, floor);
  return all;
}

Result<std::string> generate(const task::Task& task, const Design& design, const Options& options) {
  const Traces traces = KW_TRY(trace(task, options));
  TargetContext context = situation_of(task, options);
  const bool floor = std::ranges::all_of(
      design.choices, [](const Choice& one) { return one.schedule == "generic"; });
  std::vector<Sequence> sequences;
  Fusing fusing = Fusing::Chains;
  for (size_t i = 0; i < traces.programs.size(); ++i) {
    const Program& program = *traces.programs[i];
    if (i == 0) fusing = KW_TRY(fusing_of(program, context, design));
    if (i > 0 && floor) fusing = Fusing::None;
    Partition partition = make_partition(program, context, fusing);
    Design chosen = i == 0 ? design : first_design(partition, context);
    context.alone = partition.regions.size() == 1;
    Sequence sequence{&program, std::move(partition), {}};
    for (size_t k = 0; k < sequence.partition.regions.size(); ++k) {
      const std::string& row = floor ? "generic" : chosen.choices[k].schedule;
      sequence.kernels.push_back(KW_TRY(emitted(sequence.partition.regions[k], row, context)));
      if (options.switches) add_split_switch(sequence.kernels.back());
    }
    sequences.push_back(std::move(sequence));
  }
  make_distinct(sequences);
  return module_text(task, sequences,
                     fmt::format("Generated for task {}: {}.", task.name, design_text(design)),
                     options.switches);
}

}  // namespace kw::generate
