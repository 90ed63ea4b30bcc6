// A reference has concrete extents, but a kernel must be checked at several shapes. So we find out
// which numbers are dims. These are ints at file level, and extents with which the reference also
// traces if they are doubled. The alternative, to let the user name all dims, costs effort for each
// file; --dims remains possible. Equal numbers become the same dim, which can be wrong for a square
// matrix. Window sizes and index bounds stay numbers. The small shape for correctness is found by
// halving extents and tracing again, so making a task costs several traces.
#include "frontend/make_task.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/contains.h"
#include "core/text.h"
#include "frontend/assume_dims.h"
#include "frontend/legal.h"
#include "graph/cost.h"
#include "kernel/number_expr.h"
#include "kernel/plan_names.h"
#include "os/file_error.h"

namespace kw::frontend {
namespace {

/// The most work, in flops, for a shape that is checked often.
constexpr double kMuchWork = 2e8;
constexpr int64_t kFewElements = 4;
constexpr double kMostBudgets = 4;  // of an assumed shape that a stated range makes larger

Error unknown_dim(const std::string& name, const task::Dims& known) {
  std::vector<std::string> names;
  for (const auto& [one, value] : known) names.push_back(one);
  return input_error("the task has no dim '{}'{}; its dims are: {}", name,
                     did_you_mean(name, names), names.empty() ? "none" : join(names, ", "));
}

/// Moves assumed values into the ranges that the task states. Input Error if that costs too much.
Status move_into_ranges(const TaskDraft& draft, const std::vector<std::string>& missing,
                        const ShapeBudget& budget, task::Dims& dims) {
  std::string raised;
  for (const std::string& name : missing) {
    const auto found = draft.ranges.find(name);
    if (found == draft.ranges.end()) continue;
    const task::DimRange& range = found->second;
    const int64_t step = range.multiple, most = std::min(dims[name], range.high) / step * step;
    const int64_t lowest = range.up(range.low);
    if (most < lowest) raised = name;
    dims[name] = std::max(most, lowest);
  }
  if (raised.empty()) return Done{};
  const Result<Trace> trace = trace_entry(draft.entry, dims);
  const ShapeBudget most = {kMostBudgets * budget.bytes, kMostBudgets * budget.flops,
                            kMostBudgets * budget.work};
  if (trace && fits_budget(graph::cost_of(trace->graph), most)) return Done{};
  return input_error(
      "the smallest {} the task allows ({}) is more than can be judged here; pass --dims", raised,
      dims[raised]);
}

/// Values for the dims that neither the user nor the file gives, with a note.
Result<task::Dims> assume(const TaskDraft& draft, const task::Dims& known,
                          std::vector<std::string>& notes) {
  std::vector<std::string> missing = names_in_order(draft.entry.arguments);
  std::erase_if(missing, [&](const std::string& name) { return known.count(name) > 0; });
  if (missing.empty()) return known;
  const ShapeBudget budget = shape_budget(draft.has_gpu && draft.has_gpu());
  task::Dims dims = KW_TRY(assume_dims(draft.entry, known, missing, budget));
  KW_TRY(move_into_ranges(draft, missing, budget, dims));
  task::Dims assumed;
  for (const std::string& name : missing) assumed[name] = dims.at(name);
  notes.push_back(fmt::format("no values for {}: assumed {}{}; pass --dims to choose",
                              join(missing, ", "), task::dims_text(assumed),
                              budget.work > 0 ? " for the virtual GPU" : ""));
  return dims;
}

/// Values for every dim: the user's, otherwise the file's, otherwise assumed ones.
Result<task::Dims> settle_dims(const TaskDraft& draft, std::vector<std::string>& notes) {
  std::set<std::string> names = names_of(draft.entry.arguments);
  for (const Argument& argument : draft.entry.arguments) {
    if (std::holds_alternative<DimArgument>(argument.value)) names.insert(argument.name);
  }
  task::Dims start = draft.given;
  for (const auto& [name, value] : draft.file) {
    if (names.count(name)) start.emplace(name, value);
  }
  start = KW_TRY(assume(draft, start, notes));
  const Trace probe = KW_TRY(trace_entry(draft.entry, start, true));
  for (const Weight& weight : probe.weights) {
    for (const std::string& text : weight.shape) names.merge(names_in(text));
  }
  task::Dims dims;
  for (const std::string& name : names) {
    const auto given = start.find(name);
    const auto file = draft.file.find(name);
    if (given != start.end())
      dims[name] = given->second;
    else if (file != draft.file.end())
      dims[name] = file->second;
  }
  for (const auto& [name, value] : draft.given) {
    if (!names.count(name) && !draft.file.count(name)) return unknown_dim(name, dims);
    dims[name] = value;
  }
  for (const auto& [name, value] : dims) {
    if (value < 0 || value > int64_t{1} << 40)
      return input_error("dim {} = {} is outside 0 … 2^40", name, value);
  }
  return dims;
}

/// Sets the legal values: the promises of get_inputs() that matter, and what the reference needs.
void settle_legal(task::TensorSpec& spec, const Trace& trace,
                  const std::map<std::string, graph::Dim>& below) {
  task::Legal& legal = spec.legal;
  const auto node = std::find_if(trace.graph.inputs.begin(), trace.graph.inputs.end(),
                                 [&](const auto& one) { return one.name == spec.name; });
  const bool plain_rand = legal.float_low == 0.0 && legal.float_high == 1.0;
  if (plain_rand && node != trace.graph.inputs.end() && !range_matters(trace.graph, node->node)) {
    spec.own = {std::nullopt, legal.float_low, legal.float_high};
    legal.float_low.reset();
    legal.float_high.reset();
  }
  if (node != trace.graph.inputs.end()) keep_in_domain(legal, trace.graph, node->node);
  const auto bound = below.find(spec.name);
  if (bound == below.end() || legal.low || legal.high || !legal.below.empty()) return;
  legal.low = 0;
  set_below(legal, bound->second);
}

task::TensorSpec input_spec(const Argument& argument, const TensorArgument& tensor,
                            const Trace& trace) {
  task::TensorSpec spec;
  spec.name = argument.name;
  spec.dtype = tensor.text.dtype;
  spec.shape = tensor.text.shape;
  spec.legal = tensor.text.legal;
  spec.written = contains(trace.written, argument.name);
  return spec;
}

void add_inputs(task::Task& task, const TraceEntry& entry, const Trace& trace) {
  const std::map<std::string, graph::Dim> below = index_bounds(trace.graph);
  for (const Argument& argument : entry.arguments) {
    const auto& dropped = trace.write_only;
    if (contains(dropped, argument.name)) continue;
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value))
      task.inputs.push_back(input_spec(argument, *tensor, trace));
    if (const auto* scalar = std::get_if<task::ScalarSpec>(&argument.value))
      task.scalars.push_back(*scalar);
  }
  for (const Weight& weight : trace.weights) {
    task::TensorSpec spec;
    spec.name = weight.name;
    spec.dtype = weight.dtype;
    spec.shape = weight.shape;
    spec.legal = weight.legal;
    spec.role = task::Role::Weight;
    spec.own.number = weight.filled;
    task.inputs.push_back(std::move(spec));
  }
  for (task::TensorSpec& spec : task.inputs) settle_legal(spec, trace, below);
}

bool names_known(const TraceEntry& entry, const task::Dims& dims) {
  const std::set<std::string> names = names_of(entry.arguments);
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return dims.count(name) > 0; });
}

/// Replaces a dim by its value in all shapes.
void write_out(TraceEntry& entry, const std::string& dim, int64_t value) {
  for (Argument& argument : entry.arguments) {
    auto* tensor = std::get_if<TensorArgument>(&argument.value);
    if (!tensor) continue;
    std::replace(tensor->text.shape.begin(), tensor->text.shape.end(), dim,
                 fmt::format("{}", value));
  }
}

/// Dims that are the size of a window. A kernel is written for one window size, so they stay
/// numbers.
std::set<std::string> window_sizes(const graph::Graph& graph) {
  std::set<std::string> sizes;
  for (const graph::Node& node : graph.nodes) {
    if (node.op == graph::Op::Window) sizes.insert(node.shape.back().text());
    if (node.op == graph::Op::Fold) sizes.insert(graph[node.inputs[0]].shape.back().text());
  }
  return sizes;
}

/// The bounds of integer inputs that are written as numbers. An extent of that size may be the one
/// that the integers index.
std::set<int64_t> written_bounds(const TraceEntry& entry) {
  std::set<int64_t> bounds;
  for (const Argument& argument : entry.arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument.value);
    if (tensor && tensor->text.legal.high && tensor->text.legal.below.empty())
      bounds.insert(*tensor->text.legal.high + 1);
  }
  return bounds;
}

/// Nodes whose values select elements, and what these follow from. A condition only chooses between
/// values.
std::vector<bool> indices_of(const graph::Graph& graph) {
  std::vector<bool> selects(graph.nodes.size(), false);
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const graph::Node& node = graph.nodes[id];
    const bool picks = node.op == graph::Op::Gather || node.op == graph::Op::IndexSelect ||
                       node.op == graph::Op::Scatter;
    if (picks) selects[static_cast<size_t>(node.inputs[1])] = true;
    if (!selects[id] || node.dtype == tensor::DType::Bool) continue;
    for (const graph::NodeId in : node.inputs) selects[static_cast<size_t>(in)] = true;
  }
  return selects;
}

/// Scalars that the graph computes with, in indices or elsewhere. The ranges of indices follow from
/// the values of integers.
std::set<std::string> computed_with(const graph::Graph& graph, bool in_indices) {
  std::set<std::string> names;
  const std::vector<bool> selects = indices_of(graph);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const graph::Node& node = graph.nodes[id];
    const bool index = selects[id] && !tensor::is_float(node.dtype);
    if (node.attrs.number_text.empty() || index != in_indices) continue;
    const auto expr = kernel::parse_number(node.attrs.number_text);
    for (const kernel::NumberNode& one : expr ? expr->nodes : std::vector<kernel::NumberNode>{}) {
      if (one.op == kernel::NumberOp::Name) names.insert(one.name);
    }
  }
  return names;
}

/// Numbers among the parameters are passed at run time, except those that decide shapes, loops or
/// branches: the task is compiled for their values, and a note says so.
void settle_scalars(TaskDraft& draft, const task::Dims& dims, std::vector<std::string>& notes) {
  const std::vector<task::ScalarSpec> defaults = std::move(draft.defaults);
  draft.defaults.clear();
  for (const task::ScalarSpec& spec : defaults) {
    if (spec.dtype == tensor::DType::Bool)
      draft.defaults.push_back(spec);
    else
      draft.entry.arguments.push_back({spec.name, true, spec});
  }
  const auto each = [&](const auto& visit) {
    for (Argument& argument : draft.entry.arguments) {
      if (auto* spec = std::get_if<task::ScalarSpec>(&argument.value)) visit(*spec);
    }
  };
  each([](task::ScalarSpec& spec) {
    spec.runtime = spec.dtype != tensor::DType::Bool && kernel::reserved_name(spec.name).empty() &&
                   std::isfinite(spec.value());
  });
  std::set<std::string> used, fixed(draft.fixed.begin(), draft.fixed.end());
  const auto name_flag = [&](const task::ScalarSpec& spec) {
    if (spec.dtype != tensor::DType::Bool) return;
    fixed.insert(fmt::format("{}={}", spec.name, spec.integer != 0 ? "True" : "False"));
  };
  std::ranges::for_each(draft.defaults, name_flag);
  each(name_flag);
  const auto fix = [&](const auto& which) {
    bool any = false;
    each([&](task::ScalarSpec& spec) {
      if (!spec.runtime || !which(spec)) return;
      spec.runtime = false;
      any = true;
      fixed.insert(fmt::format("{}={}", spec.name, spec.value()));
    });
    return any;
  };
  for (const task::Dims& at : {dims, shrunk(dims, 64, true)}) {
    for (bool again = true; again;) {
      const Result<Trace> trace = trace_entry(draft.entry, at);
      if (!trace && at != dims) break;
      if (!trace) {
        // An op may need an int itself. If nothing helps, the caller reports the problem.
        again = fix([](const auto& spec) { return !tensor::is_float(spec.dtype); }) ||
                fix([](const auto&) { return true; });
        continue;
      }
      used.merge(computed_with(trace->graph, false));
      std::set<std::string> decide = computed_with(trace->graph, true);
      decide.insert(trace->fixed.begin(), trace->fixed.end());
      again = fix([&](const auto& spec) { return decide.count(spec.name) > 0; });
    }
  }
  each([&](task::ScalarSpec& spec) { spec.runtime = spec.runtime && used.count(spec.name) > 0; });
  if (!fixed.empty())
    notes.push_back(fmt::format("compiled for {}: the value decides shapes, loops or branches",
                                join(std::vector<std::string>(fixed.begin(), fixed.end()), ", ")));
}

/// Whether a description names a dim. Then its numbers are meant as numbers.
bool describes_dims(const TraceEntry& entry) {
  return std::ranges::any_of(entry.arguments, [](const Argument& argument) {
    const auto* tensor = std::get_if<TensorArgument>(&argument.value);
    return tensor && tensor->described && !names_of({argument}).empty();
  });
}

/// Gives names to extents written as numbers, if the reference also traces with other values. Then
/// other shapes can be derived. Equal numbers become the same dim.
void name_extents(TaskDraft& draft) {
  TraceEntry named = draft.entry;
  const bool literal = describes_dims(named);
  std::map<int64_t, std::string> names;
  // Names from --dims are not taken: they may be the names that are given here.
  std::set<std::string> taken = names_of(named.arguments);
  for (const auto& [name, value] : draft.file) taken.insert(name);
  task::Dims dims = draft.file;
  for (const auto& [name, value] : draft.given) dims[name] = value;
  for (Argument& argument : named.arguments) {
    auto* tensor = std::get_if<TensorArgument>(&argument.value);
    if (!tensor || (literal && tensor->described)) continue;
    for (std::string& text : tensor->text.shape) {
      const auto value = parse_int(text);
      if (!value || *value < 2) continue;
      if (!names.count(*value)) {
        size_t number = names.size();
        while (taken.count(fmt::format("d{}", number))) ++number;
        names[*value] = fmt::format("d{}", number);
        taken.insert(names[*value]);
        dims[names[*value]] = *value;
      }
      text = names[*value];
    }
  }
  if (names.empty() || !names_known(named, dims)) return;
  const Result<Trace> trace = trace_entry(named, dims);
  if (!trace) return;
  const std::set<std::string> fixed = window_sizes(trace->graph);
  const std::set<int64_t> bounds = written_bounds(named);
  task::Dims kept;
  for (const auto& [value, name] : names) {
    task::Dims other = dims;
    other[name] = 2 * value;
    if (fixed.count(name) == 0 && bounds.count(value) == 0 && trace_entry(named, other)) {
      kept[name] = value;
      continue;
    }
    write_out(named, name, value);
    dims.erase(name);
  }
  if (kept.empty()) return;
  draft.entry = std::move(named);
  for (const auto& [name, value] : kept) draft.file[name] = value;
  draft.notes.push_back("extents written as numbers were named: " + task::dims_text(kept));
}

Status check_inputs(const task::Task& task, const task::Dims& dims) {
  for (const task::TensorSpec& spec : task.inputs) {
    const std::vector<int64_t> shape = KW_TRY(task.shape_of(spec, dims));
    if (contains(shape, 0))
      return input_error(
          "input '{}' has no elements: its shape is [{}]{}\n  hint: give extents of at least 1: a "
          "kernel that has nothing to compute cannot be judged",
          spec.name, join(spec.shape, ", "), dims.empty() ? "" : " at " + task::dims_text(dims));
  }
  return Done{};
}

/// Whether the task allows these dims. PyTorch may refuse others where our trace does not, such as
/// a K of 64 where an input has K // 128 rows.
bool in_ranges(const task::Task& task, const task::Dims& dims) {
  return std::ranges::all_of(dims, [&](const auto& dim) {
    const auto range = task.dims.find(dim.first);
    return range == task.dims.end() ||
           (dim.second >= range->second.low && dim.second % range->second.multiple == 0);
  });
}

/// The cost of evaluating the reference. Not set if it fails at these dims, or if its tensors
/// differ from the task's.
std::optional<double> flops_at(const task::Task& task, const TraceEntry& entry,
                               const task::Dims& dims) {
  if (!in_ranges(task, dims)) return std::nullopt;
  const auto trace = trace_entry(entry, dims);
  if (!trace || !task.difference(trace->graph).empty()) return std::nullopt;
  return graph::cost_of(trace->graph).flops;
}

/// About half of an extent that has more than a few elements; odd extents stay odd.
int64_t half_of(int64_t extent) {
  if (extent <= kFewElements) return extent;
  return extent % 2 == 0 ? extent / 2 : (extent / 2) | 1;
}

/// Volumes times channels are much work even if every extent is small. All dims are halved
/// together, which keeps their relations. If that fails, they are halved one by one.
task::Dims lightened(const task::Task& task, const TraceEntry& entry, task::Dims dims) {
  std::optional<double> flops = flops_at(task, entry, dims);
  bool smaller = true;
  const auto take = [&](const task::Dims& other) {
    if (other == dims) return false;
    const auto cost = flops_at(task, entry, other);
    if (!cost || *cost >= *flops) return false;
    dims = other;
    flops = cost;
    return true;
  };
  while (flops && *flops > kMuchWork && smaller) {
    task::Dims all = dims;
    for (auto& [name, value] : all) value = half_of(value);
    smaller = take(all);
    if (smaller) continue;
    for (const auto& [name, value] : task::Dims(dims)) {
      task::Dims one = dims;
      one[name] = half_of(value);
      smaller = take(one) || smaller;
    }
  }
  return dims;
}

/// The smallest of a few shapes at which the reference still traces and has the task's tensors.
task::Dims small_shape(const task::Task& task, const TraceEntry& entry, const task::Dims& dims) {
  for (const int64_t largest : {64, 128, 256, 512}) {
    for (const bool distinct : {true, false}) {
      const task::Dims small = shrunk(dims, largest, distinct);
      if (flops_at(task, entry, small)) return lightened(task, entry, small);
    }
  }
  return lightened(task, entry, dims);
}

}  // namespace

std::set<std::string> names_of(const std::vector<Argument>& arguments) {
  std::set<std::string> names;
  for (const Argument& argument : arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument.value);
    if (!tensor) continue;
    for (const std::string& text : tensor->text.shape) names.merge(names_in(text));
    names.merge(names_in(tensor->text.legal.below));
  }
  return names;
}

task::Dims shrunk(const task::Dims& dims, int64_t largest, bool distinct) {
  task::Dims result = dims;
  std::map<int64_t, int64_t> taken;  // small extent -> its original
  for (auto& [name, value] : result) {
    const int64_t original = value;
    // Odd extents stay odd: they are test cases for tails.
    const auto smaller = [](int64_t n) { return n % 2 == 0 ? n / 2 : (n / 2) | 1; };
    while (value > largest) value = smaller(value);
    // Different extents stay different; otherwise a kernel that swaps two dims could pass.
    while (distinct && value > 3 && taken.count(value) && taken[value] != original)
      value = smaller(value);
    taken.emplace(value, original);
  }
  return result;
}

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".py") ? name.substr(0, name.size() - 3) : name;
}

Result<task::Task> make_task(TaskDraft draft) {
  task::Task task;
  if (!draft.fixed_numbers) name_extents(draft);
  task.notes = draft.notes;
  const task::Dims dims = KW_TRY(settle_dims(draft, task.notes));
  settle_scalars(draft, dims, task.notes);
  const Trace trace = KW_TRY(trace_entry(draft.entry, dims));
  task.name = os::without_controls(stem_of(draft.entry.source->path));
  task.source_path = draft.entry.source->path;
  task.source = draft.entry.source->text;
  task.format = draft.format;
  task.scalars = draft.defaults;
  add_inputs(task, draft.entry, trace);
  KW_TRY(check_inputs(task, dims));
  task.set_outputs(trace.graph);
  task.dims = dim_ranges(draft.entry, dims, trace.graph);
  task.precision.allow_tf32 = trace.allow_tf32;
  task.precision.atol = draft.atol;
  task.precision.rtol = draft.rtol;
  task.notes.insert(task.notes.end(), trace.notes.begin(), trace.notes.end());
  task.unneeded = trace.unneeded;
  task.keeps_state = !repeats_itself(draft.entry, dims, trace.graph);
  if (task.keeps_state)
    task.notes.emplace_back(
        "the reference keeps state between calls: the task is what its first call computes");
  task.benchmark_shapes = {dims};
  task.correctness_shapes = {small_shape(task, draft.entry, dims)};
  if (dims.empty())
    task.notes.emplace_back(
        "the reference works only at this shape, so no other shapes are derived");
  task.reference = std::make_shared<PythonReference>(std::move(draft.entry));
  return task;
}

}  // namespace kw::frontend
