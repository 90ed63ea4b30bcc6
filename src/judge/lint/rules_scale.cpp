// Rules that examine the benchmark shapes in full size, not cut. They find ops without effect at
// that size, and errors that a fixed tolerance cannot see. The judge's bounds scale with the
// values, so the findings are warnings; a harness with one fixed tolerance would accept wrong
// kernels. A truth at full size is too expensive. So below_tolerance keeps only the reduced dims in
// full, and sampled_answers extrapolates from the cut shape.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <set>

#include "inputs/families.h"
#include "lint/rule.h"
#include "shapes/shapes.h"
#include "tensor/dtype.h"

namespace kw::lint {

namespace {

constexpr double kLongWork = 6e7;      // work limit of one draw with full reduced dims
constexpr double kAbsolute = 1e-3;     // default absolute tolerance of robust-kbench
constexpr double kRelative = 1e-3;     // its default relative tolerance
constexpr double kConcentrated = 0.1;  // two draws closer than this have a common mean
// PyTorch's kernels for these functions assign each row to one thread block.
constexpr const char* kByRow[] = {"layer_norm",    "softmax",    "log_softmax",
                                  "instance_norm", "group_norm", "softmin"};
constexpr double kFewRows = 8;  // a GPU has more than a hundred multiprocessors
constexpr double kLongRow = 1 << 18;

/// Returns the extents that an op combines: it reduces, scans, sorts or contracts them.
std::vector<graph::Dim> mixed_extents(const graph::Graph& graph, const graph::Node& node) {
  std::vector<graph::Dim> extents;
  if (node.inputs.empty()) return extents;
  const graph::Shape& shape = graph[node.inputs[0]].shape;
  const graph::OpKind kind = graph::op_info(node.op).kind;
  if (kind == graph::OpKind::Contraction && !shape.empty()) extents.push_back(shape.back());
  const bool lines = kind == graph::OpKind::Reduction || kind == graph::OpKind::Scan ||
                     kind == graph::OpKind::Selection;
  for (const int dim : lines ? node.attrs.dims : std::vector<int>())
    extents.push_back(shape[static_cast<size_t>(dim)]);
  return extents;
}

bool mentions_dim(const graph::Dim& extent, const std::string& name) {
  return std::ranges::any_of(extent.terms(), [&](const auto& term) {
    return std::ranges::any_of(term.first, [&](const std::string& factor) {
      return factor == name || factor.find(name) != std::string::npos;
    });
  });
}

/// Returns the shape with the least extent for every dim that no op combines; other dims stay.
task::Dims only_long(const task::Task& task, const graph::Graph& graph, task::Dims dims) {
  for (auto& [name, extent] : dims) {
    const bool mixed = std::ranges::any_of(graph.nodes, [&, &dim = name](const graph::Node& node) {
      return std::ranges::any_of(mixed_extents(graph, node),
                                 [&](const graph::Dim& one) { return mentions_dim(one, dim); });
    });
    const auto range = task.dims.find(name);
    if (mixed || range == task.dims.end()) continue;
    extent = std::min(extent, range->second.nearest(2));
  }
  return dims;
}

/// Returns the number of input elements per element of an output.
double share_of_inputs(const graph::Graph& graph, size_t output) {
  double count = 0;
  for (const graph::NamedNode& input : graph.inputs)
    count += static_cast<double>(graph::count_of(graph[input.node].shape).value());
  const auto elements = graph::count_of(graph[graph.outputs[output].node].shape).value();
  return count / static_cast<double>(std::max<int64_t>(elements, 1));
}

struct Trivial {
  std::string name;
  int line = 0;
  auto operator<=>(const Trivial&) const = default;
};

/// Returns the ops whose combined extents are all 1.
std::set<Trivial> trivial_ops(const graph::Graph& graph) {
  std::set<Trivial> found;
  for (const graph::Node& node : graph.nodes) {
    const std::vector<graph::Dim> extents = mixed_extents(graph, node);
    const bool trivial = !extents.empty() && std::ranges::all_of(extents, [](const auto& extent) {
      return extent.value() == 1;
    });
    if (!trivial || graph::op_info(node.op).kind == graph::OpKind::Contraction) continue;
    found.insert({node.origin.empty() ? graph::op_info(node.op).name : node.origin, node.line});
  }
  return found;
}

/// Reports an op only if it is trivial at every benchmark shape; one small shape is not a fault.
void report_trivial(const std::vector<std::set<Trivial>>& by_shape, const LintCase& at,
                    Findings* out) {
  if (by_shape.empty()) return;
  for (const Trivial& one : by_shape.front()) {
    if (!std::ranges::all_of(by_shape, [&](const auto& ops) { return ops.count(one) > 0; }))
      continue;
    report("trivial-reduction", Severity::Warning, one.name,
           fmt::format("'{}' combines a dim of extent 1, so it has no effect", one.name), at, out);
    out->back().line = one.line;
  }
}

Status below_tolerance(LintContext& context, const task::Dims& dims, const graph::Graph& whole,
                       Findings* out) {
  LintCase at{only_long(context.task, whole, dims), {}, true, {}};
  Result<graph::Graph> graph = context.task.graph_at(at.dims);
  if (!graph || shapes::work_of(*graph) > kLongWork) return Done{};
  at.graph = std::move(graph).value();
  const std::vector<tensor::HostTensor> inputs =
      KW_TRY(inputs::draw_inputs(context.task, at.graph, at.dims, family_for(context.task, 0),
                                 inputs::derive_seed(context.options.seed, 91)));
  const std::vector<ports::Truth> truths =
      KW_TRY(context.oracle.truth(at.graph, inputs, context.truth));
  for (const ports::Truth& truth : truths) {
    if (!tensor::is_float(truth.dtype) || truth.value.empty()) continue;
    double largest = 0;
    for (const double value : truth.value) largest = std::max(largest, std::fabs(value));
    if (!(largest < kAbsolute) || largest == 0) continue;
    report(
        "below-tolerance", Severity::Warning, truth.name,
        fmt::format(
            "no element of '{}' is larger than {:.2g}: a comparison that allows {:g} accepts zeros",
            truth.name, largest, kAbsolute),
        at, out);
  }
  return Done{};
}

/// A few long rows keep few multiprocessors busy, so most kernels are faster than PyTorch.
void few_rows(const graph::Graph& whole, const LintCase& at, Findings* out) {
  for (const graph::Node& node : whole.nodes) {
    const bool reduces = graph::op_info(node.op).kind == graph::OpKind::Reduction;
    const bool by_row =
        std::ranges::any_of(kByRow, [&](const char* one) { return node.origin == one; });
    if (!reduces || !by_row) continue;
    const auto rows = static_cast<double>(graph::count_of(node.shape).value());
    const auto all = static_cast<double>(graph::count_of(whole[node.inputs[0]].shape).value());
    if (rows == 0 || rows > kFewRows || all / rows < kLongRow) continue;
    report(
        "few-rows", Severity::Warning, node.origin,
        fmt::format("'{}' has {:.0f} rows of {:.0f} elements: PyTorch gives each to one block, so "
                    "a speedup over it says little",
                    node.origin, rows, all / rows),
        at, out);
    out->back().line = node.line;
    return;
  }
}

/// Compares two draws at the cut shape and extrapolates their difference to the full shape.
void sampled_answers(const graph::Graph& whole, const LintCase& at, Findings* out) {
  if (at.samples.size() < 2) return;
  for (size_t i = 0; i < at.samples[0].truths.size(); ++i) {
    const ports::Truth &one = at.samples[0].truths[i], &two = at.samples[1].truths[i];
    const double scale = std::sqrt(share_of_inputs(at.graph, i) / share_of_inputs(whole, i));
    if (!tensor::is_float(one.dtype)) continue;
    double squares = 0, gaps = 0;
    for (size_t e = 0; e < one.value.size(); ++e) {
      squares += one.value[e] * one.value[e];
      gaps += (one.value[e] - two.value[e]) * (one.value[e] - two.value[e]);
    }
    const double gap = std::sqrt(gaps / squares);
    if (!(gap > 0 && gap < kConcentrated && gap * scale < kRelative)) continue;
    report("sampled-answer", Severity::Warning, one.name,
           fmt::format("two draws of the inputs give the same '{}' up to {:.1g} of its size: a "
                       "kernel that reads a part of them passes a comparison that allows {:g}",
                       one.name, gap * scale, kRelative),
           at, out);
  }
}

}  // namespace

Status benchmark_scale(LintContext& context, const LintCase& at, Findings* out) {
  std::vector<std::set<Trivial>> trivial;
  for (const task::Dims& dims : context.task.benchmark_shapes) {
    const Result<graph::Graph> whole = context.task.graph_at(dims);
    if (!whole) continue;  // plan_shapes has reported it
    trivial.push_back(trivial_ops(*whole));
    KW_TRY(below_tolerance(context, dims, *whole, out));
    if (trivial.size() == 1) sampled_answers(*whole, at, out);
    if (trivial.size() == 1) few_rows(*whole, at, out);
  }
  report_trivial(trivial, at, out);
  return Done{};
}

}  // namespace kw::lint
