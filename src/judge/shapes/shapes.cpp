// The problem: kernels often fail at shapes that the author did not think of, such as extent 1 or a
// tail. The planner adds derived shapes to the task's own: primes, tails, one row, many rows, equal
// extents, empty, large. The virtual GPU is slow, so large shapes of the task are halved for it,
// first in dims that only repeat work. The alternative, random shapes, would find the same errors
// less reliably. The cost: a reference may refuse a derived shape; such shapes are listed, not an
// Error.
#include "shapes/shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "core/ascii.h"
#include "core/contains.h"
#include "graph/cost.h"
#include "inputs/families.h"
#include "shapes/tile_work.h"

namespace kw::shapes {

namespace {

using task::Dims;

constexpr double kVirtualWork = 4e6, kVirtualLarge = 1.2e7, kVirtualMost = 2e9;
constexpr double kVirtualNested = 1e9;  // for a product inside another: some seconds
constexpr double kVirtualTiles = 1e8;   // of secret shapes, if blocks compute whole tiles
constexpr double kDeviceWork = 2e8, kDeviceLarge = 4e8;
constexpr double kInstructionsPerElement = 16;

// Extents that break loops written for round numbers.
struct Inner {
  int64_t extent;
  const char* why;
};
constexpr Inner kInner[] = {
    {64, "inner extent 64"},
    {1, "inner extent 1"},
    {7, "inner extent 7"},
    {31, "one less than a warp, prime"},
    {129, "one behind a tile of 128"},
    {257, "prime, behind a block of 256"},
    {1000, "no multiple of a tile"},
    {1030, "vector tail behind 1024"},
};
constexpr int64_t kOuter[] = {3, 2, 5, 4};  // small and all different: swapped dims give errors
constexpr int64_t kLargeInner = 4099;
constexpr int64_t kManyOuter = 67;
constexpr int64_t kWaveOuter = 263;
// More rows than a grid has blocks, but short rows. Fewer rows for sorts, whose cost per row does
// not depend on its length.
constexpr int64_t kGridOuter = 1093, kSortedOuter = 277, kGridInner = 5;
constexpr int kEnoughDerived = 6;
constexpr int kSecretShapes = 3, kSecretAttempts = 4;
constexpr int64_t kTile = 128;  // rows and columns of a product per block


bool mentions(const std::string& expression, const std::string& name) {
  for (size_t at = expression.find(name); at != std::string::npos;
       at = expression.find(name, at + 1)) {
    const bool left = at == 0 || !is_name_char(expression[at - 1]);
    const size_t end = at + name.size();
    if (left && (end == expression.size() || !is_name_char(expression[end]))) return true;
  }
  return false;
}

/// Returns whether a module for one graph can serve the other: the same input names, and the same
/// number, ranks and dtypes of outputs.
bool same_form(const graph::Graph& one, const graph::Graph& other) {
  const bool same_inputs = std::ranges::equal(
      one.inputs, other.inputs, [](const auto& a, const auto& b) { return a.name == b.name; });
  return same_inputs &&
         std::ranges::equal(one.outputs, other.outputs, [&](const auto& a, const auto& b) {
           return one[a.node].shape.size() == other[b.node].shape.size() &&
                  one[a.node].dtype == other[b.node].dtype;
         });
}

std::string too_costly(const Dims& dims, const std::string& why) {
  return fmt::format("{}: {} would cost too much on this device", task::dims_text(dims), why);
}

class Planner {
 public:
  Planner(const task::Task& task, const ShapeLimits& limits) : task_(task), limits_(limits) {
    for (const auto& [name, range] : task.dims) {
      const bool inner =
          std::ranges::any_of(task.inputs, [&, &dim = name](const task::TensorSpec& spec) {
            return !spec.shape.empty() && mentions(spec.shape.back(), dim);
          });
      (inner ? inner_ : outer_).push_back(name);
    }
  }

  Result<ShapePlan> run() {
    if (task_.correctness_shapes.empty() && task_.benchmark_shapes.empty())
      return input_error("the task has no shape to be judged at");
    KW_TRY(add_demanded(task_.correctness_shapes, "the task's own", false));
    KW_TRY(add_demanded(task_.benchmark_shapes, "benchmark shape", true));
    if (limits_.derive && !task_.dims.empty()) KW_TRY(add_derived());
    if (limits_.derive && limits_.secret) KW_TRY(add_secret());
    return std::move(plan_);
  }

 private:
  Status add_demanded(const std::vector<Dims>& shapes, const std::string& why, bool benchmark) {
    for (const Dims& dims : shapes) {
      if (!contains(plan_.demanded, dims)) plan_.demanded.push_back(dims);
      KW_TRY(add_own(dims, why, benchmark));
    }
    return Done{};
  }

  // Adds a shape of the task, cut until the device can run it in reasonable time.
  Status add_own(const Dims& dims, const std::string& why, bool benchmark) {
    ShapeCase shape;
    shape.dims = dims;
    shape.why = why;
    shape.demanded = true;
    shape.benchmark = benchmark;
    Result<graph::Graph> own = task_.graph_at(dims);
    if (!own) return std::move(own).error().context("at " + task::dims_text(dims));
    shape.graph = std::move(own).value();
    shape.work = work_of(shape.graph);
    std::set<std::string> fixed;  // dims that cannot be cut further
    while (limits_.cut && limits_.large_work > 0 && shape.work > limits_.large_work) {
      Dims smaller = shape.dims;
      if (!cut(&smaller, shape.graph, fixed)) break;
      const bool taken = KW_TRY(take(smaller, &shape));
      if (taken) continue;
      // Dims that must be equal (a square matrix) are cut together.
      const bool both = KW_TRY(take(alike(shape.dims, smaller), &shape));
      if (both) continue;
      for (const auto& [name, value] : smaller) {
        if (value != shape.dims.at(name)) fixed.insert(name);
      }
    }
    if (limits_.most_work > 0 && shape.work > limits_.most_work) {
      plan_.left_out.push_back(
          fmt::format("{}: {} would cost too much on this device", task::dims_text(dims), why));
      return Done{};
    }
    if (shape.dims != dims) shape.why += fmt::format(", {} cut down", task::dims_text(dims));
    add(std::move(shape));
    return Done{};
  }

  // Changes the shape to other dims, if the reference accepts them and the form stays the same.
  Result<bool> take(const Dims& dims, ShapeCase* shape) const {
    Result<graph::Graph> graph = task_.graph_at(dims);
    if (!graph && graph.error().blame != Blame::Input) return std::move(graph).error();
    if (!graph || !same_form(*graph, shape->graph)) return false;
    shape->dims = dims;
    shape->graph = std::move(graph).value();
    shape->work = work_of(shape->graph);
    return true;
  }

  // Applies the change of one dim to all dims of the same extent.
  Dims alike(const Dims& before, const Dims& after) const {
    Dims dims = after;
    for (const auto& [name, value] : after) {
      if (value == before.at(name)) continue;
      for (auto& [other, extent] : dims) {
        const auto range = task_.dims.find(other);
        if (extent == before.at(name) && range != task_.dims.end())
          extent = range->second.nearest(value);
      }
    }
    return dims;
  }

  // Halves one dim. The order is: dims that only repeat work, then dims along which results lie in
  // memory, then inner dims; the largest first. A dim that would leave a product with less than a
  // tile comes last. Returns false when no dim can be cut.
  bool cut(Dims* dims, const graph::Graph& graph, const std::set<std::string>& fixed) const {
    struct Choice {
      int harm, kind;
      int64_t extent, halved;
      std::string name;
    };
    std::optional<Choice> best;
    const auto consider = [&](const std::string& name, int kind, int64_t least) {
      const auto at = dims->find(name);
      if (at == dims->end() || fixed.count(name)) return;
      const int64_t halved = task_.dims.at(name).nearest(std::max(at->second / 2, least));
      if (halved >= at->second) return;
      Choice choice{harm_to_products(graph, name), kind, at->second, halved, name};
      const auto rank = [](const Choice& one) {
        return std::tuple(one.harm, one.kind, -one.extent);
      };
      if (!best || rank(choice) < rank(*best)) best = std::move(choice);
    };
    for (const std::string& name : outer_) {
      const bool along = std::ranges::any_of(graph.outputs, [&](const graph::NamedNode& output) {
        const auto& shape = graph[output.node].shape;
        return !shape.empty() && mentions(shape.back().text(), name);
      });
      consider(name, along ? 1 : 0, 2);
    }
    for (const std::string& name : inner_) consider(name, 2, 64);
    if (!best) return false;
    (*dims)[best->name] = best->halved;
    return true;
  }

  // Counts rows and columns of products that halving the dim would make smaller than a tile.
  // Counters from half-empty tiles do not predict a shape that fills them.
  static int harm_to_products(const graph::Graph& graph, const std::string& name) {
    int harm = 0;
    for (const graph::Node& node : graph.nodes) {
      if (node.op != graph::Op::MatMul) continue;
      for (size_t back = 1; back <= std::min<size_t>(2, node.shape.size()); ++back) {
        const graph::Dim& extent = node.shape[node.shape.size() - back];
        harm += extent.value() / 2 < kTile && mentions(extent.text(), name) ? 1 : 0;
      }
    }
    return harm;
  }

  void add(ShapeCase shape) {
    for (ShapeCase& known : plan_.cases) {
      if (known.dims != shape.dims) continue;
      known.demanded = known.demanded || shape.demanded;
      if (shape.benchmark && !known.benchmark) known.why += ", " + shape.why;
      known.benchmark = known.benchmark || shape.benchmark;
      return;
    }
    plan_.cases.push_back(std::move(shape));
  }

  Dims base(int64_t inner, size_t variant) const {
    Dims dims;
    for (size_t i = 0; i < outer_.size(); ++i)
      dims[outer_[i]] = task_.dims.at(outer_[i]).nearest(kOuter[i % std::size(kOuter)]);
    for (size_t i = 0; i < inner_.size(); ++i) {
      // Several inner dims get different extents, so that swapped dims give errors.
      const int64_t extent = i == 0 ? inner : kInner[(variant + i) % std::size(kInner)].extent;
      dims[inner_[i]] = task_.dims.at(inner_[i]).nearest(extent);
    }
    return dims;
  }

  Status add_derived() {
    for (size_t i = 0; i < std::size(kInner); ++i) {
      KW_TRY(try_derived(base(kInner[i].extent, i), kInner[i].why, limits_.work));
      if (inner_.empty()) break;
    }
    if (!outer_.empty()) {
      KW_TRY(try_derived(with_outer(33, 1), "outer extent 1", limits_.work));
      KW_TRY(try_derived(with_outer(96, kManyOuter), "many rows", limits_.work));
      KW_TRY(add_rows());
      KW_TRY(try_empty());
    }
    KW_TRY(add_variations());
    KW_TRY(add_alike());
    KW_TRY(try_derived(base(kLargeInner, 1), "large", limits_.large_work));
    // When nothing is cut, there is time for more than one wave of blocks.
    if (limits_.cut || outer_.empty()) return Done{};
    return try_derived(with_outer(kLargeInner, kWaveOuter), "large and many", limits_.large_work);
  }

  // Swapped dims may show an error only when they are equal, or only when they differ.
  Status add_alike() {
    if (task_.dims.size() < 2) return Done{};
    Dims dims;
    for (const auto& [name, range] : task_.dims)
      dims[name] = range.nearest(task_.dims.size() == 2 ? 48 : task_.dims.size() == 3 ? 20 : 6);
    return try_derived(dims, "all extents alike", limits_.work);
  }

  // The cut benchmark shape has few rows, so this adds a shape with more rows than blocks.
  Status add_rows() {
    if (!limits_.cut) return Done{};
    const bool sorts = std::ranges::any_of(plan_.cases, [](const ShapeCase& shape) {
      return std::ranges::any_of(shape.graph.nodes, [](const graph::Node& node) {
        return graph::op_info(node.op).kind == graph::OpKind::Selection;
      });
    });
    Dims dims = base(kGridInner, 0);
    dims[outer_.front()] = task_.dims.at(outer_.front()).nearest(sorts ? kSortedOuter : kGridOuter);
    return try_derived(dims, "more rows than blocks", limits_.work);
  }

  Dims with_outer(int64_t inner, int64_t outer) const {
    Dims dims = base(inner, 0);
    for (const std::string& name : outer_) dims[name] = task_.dims.at(name).nearest(outer);
    return dims;
  }

  // Some references accept only certain combinations of dims (heads, groups) and refuse most
  // derived shapes. The task's own shape is then changed in one dim at a time.
  Status add_variations() {
    for (const ShapeCase& own : std::vector<ShapeCase>(plan_.cases)) {
      if (!own.demanded) continue;
      for (const auto& [name, value] : own.dims) {
        const auto range = task_.dims.find(name);
        if (range == task_.dims.end()) continue;
        for (const int64_t other : {int64_t{1}, int64_t{7}, value / 2, value + 1, 2 * value}) {
          if (derived_ >= kEnoughDerived) return Done{};
          Dims dims = own.dims;
          dims[name] = range->second.nearest(other);
          KW_TRY(try_derived(dims, "the task's own with one dim changed", limits_.work));
        }
      }
    }
    return Done{};
  }

  Status try_empty() {
    for (const std::string& name : outer_) {
      if (task_.dims.at(name).low > 0) continue;
      Dims dims = base(64, 0);
      dims[name] = 0;
      return try_derived(dims, "empty", limits_.work);
    }
    return Done{};
  }

  // Adds a derived shape. If the reference refuses it, or it costs too much, it is listed; that is
  // not an Error.
  Status try_derived(const Dims& dims, const char* why, double most_work) {
    const bool known = std::ranges::any_of(
        plan_.cases, [&](const ShapeCase& shape) { return shape.dims == dims; });
    if (known || !tried_.insert(dims).second) return Done{};
    DerivedShape made = KW_TRY(derive_shape(task_, plan_, dims, why, most_work));
    const bool nested = made.shape && limits_.nested_work > 0 &&
                        nested_tile_work(made.shape->graph) > limits_.nested_work;
    if (nested) made = {std::nullopt, too_costly(dims, why), true};
    if (!made.shape) {
      plan_.left_out.push_back(std::move(made.refused));
      return Done{};
    }
    if (const Status legal = inputs::check_legal(task_, made.shape->graph, dims); !legal) {
      plan_.left_out.push_back(fmt::format("{}: {}", task::dims_text(dims), legal.error().message));
      return Done{};
    }
    add(std::move(*made.shape));
    ++derived_;
    return Done{};
  }

  uint64_t draw() { return inputs::derive_seed(*limits_.secret, ++drawn_); }

  // Every order of magnitude is equally likely.
  int64_t draw_extent(int64_t low, int64_t high) {
    const double part = static_cast<double>(draw() >> 11) * 0x1p-53;
    const double ratio = static_cast<double>(high) / static_cast<double>(std::max<int64_t>(low, 1));
    const double extent = static_cast<double>(std::max<int64_t>(low, 1)) * std::pow(ratio, part);
    return std::clamp(static_cast<int64_t>(extent), low, std::max(low, high));
  }

  // References with heads or groups refuse most extents, so some draws keep the power of two of the
  // task's own extent.
  int64_t fitted(const std::string& name, int64_t wanted, bool like_own) const {
    int64_t step = 1;
    if (like_own && !plan_.demanded.empty() && plan_.demanded.front().count(name) != 0) {
      const int64_t own = std::max<int64_t>(plan_.demanded.front().at(name), 1);
      step = std::min<int64_t>(own & -own, 64);
    }
    return task_.dims.at(name).nearest((wanted + step - 1) / step * step);
  }

  // Extents that are in no list, drawn for this run: an author could fit a kernel to the others.
  Status add_secret() {
    for (const auto& [name, range] : task_.dims) {
      if (range.high <= kLargeInner) continue;
      bool added = false;
      for (int attempt = 0; attempt < kSecretAttempts && !added; ++attempt) {
        Dims dims;
        for (const auto& [other, its_range] : task_.dims)
          dims[other] = fitted(other, draw_extent(1, attempt == 0 ? 8 : 3), attempt > 1);
        const int64_t most = attempt % 2 == 0 ? 4 * kLargeInner : kLargeInner + kLargeInner / 8;
        dims[name] = fitted(name, draw_extent(kLargeInner + 1, most), attempt > 1);
        added = KW_TRY(try_secret(dims, "a secret extent above 4099", limits_.large_work));
      }
      if (!added)
        plan_.left_out.push_back(
            fmt::format("a secret {} above {}: the reference refuses it, or it would cost too much "
                        "on this device",
                        name, kLargeInner));
    }
    int made = 0;
    for (int attempt = 0; attempt < 3 * kSecretShapes && made < kSecretShapes; ++attempt) {
      Dims dims;
      const int64_t most = kLargeInner >> attempt;
      for (const auto& [name, range] : task_.dims)
        dims[name] = fitted(name, draw_extent(1, std::max<int64_t>(most, 16)), attempt % 2 == 1);
      const bool added = KW_TRY(try_secret(dims, "secret extents", limits_.work));
      made += added ? 1 : 0;
    }
    return Done{};
  }

  Result<bool> try_secret(const Dims& dims, const char* why, double most_work) {
    const bool known = std::ranges::any_of(
        plan_.cases, [&](const ShapeCase& shape) { return shape.dims == dims; });
    if (known) return false;
    DerivedShape made = KW_TRY(derive_shape(task_, plan_, dims, why, most_work));
    if (!made.shape) return false;
    if (limits_.nested_work > 0 && (nested_tile_work(made.shape->graph) > limits_.nested_work ||
                                    tile_work(made.shape->graph) > kVirtualTiles))
      return false;
    made.shape->secret = true;
    add(std::move(*made.shape));
    return true;
  }

  const task::Task& task_;
  const ShapeLimits& limits_;
  std::vector<std::string> inner_, outer_;
  std::set<Dims> tried_;
  int derived_ = 0;
  uint64_t drawn_ = 0;  // secret numbers so far
  ShapePlan plan_;
};

}  // namespace

ShapeLimits virtual_limits() {
  return {kVirtualWork, kVirtualLarge, kVirtualMost, kVirtualNested, true, true, {}};
}
ShapeLimits device_limits() { return {kDeviceWork, kDeviceLarge, 0, 0, true, false, {}}; }

Result<DerivedShape> derive_shape(const task::Task& task, const ShapePlan& plan, const Dims& dims,
                                  const std::string& why, double most_work) {
  DerivedShape made;
  Result<graph::Graph> graph = task.reference->trace(dims);
  if (!graph) {
    if (graph.error().blame != Blame::Input) return std::move(graph).error();
    made.refused = fmt::format("{}: the reference refuses it: {}", task::dims_text(dims),
                               graph.error().message);
    return made;
  }
  // "squeeze()" drops every extent of 1; a kernel need not follow that.
  const bool other = !plan.cases.empty() && !same_form(*graph, plan.cases.front().graph);
  if (other || !task.difference(*graph).empty()) {
    made.refused =
        fmt::format("{}: at this shape the inputs differ, or the rank or dtype of the outputs",
                    task::dims_text(dims));
    return made;
  }
  const double work = work_of(*graph);
  if (most_work > 0 && work > most_work) {
    made.refused = too_costly(dims, why);
    made.costly = true;
    return made;
  }
  made.shape = ShapeCase{dims, why, false, false, std::move(graph).value(), work, false};
  return made;
}

double work_of(const graph::Graph& graph) {
  const graph::Cost cost = graph::cost_of(graph);
  const double elements = (cost.read_bytes + cost.write_bytes) / 4;
  return cost.flops + kInstructionsPerElement * elements;
}

Result<ShapePlan> plan_shapes(const task::Task& task, const ShapeLimits& limits) {
  return Planner(task, limits).run();
}

}  // namespace kw::shapes
