// The problem: a kernel may be right up to an extent that neither the task nor its own code names,
// such as the end of half precision or of a table, or a shift that is zero below. A list of large
// extents would help for one run only: an author could fit a kernel to it. So for each dim, extents
// are drawn by ratio up to the largest that the time allows, with the other dims small. How long an
// extent takes is not known beforehand (one row may be one block, or one element of a loop), so
// each step is 4 to 16 times as large as the last one, as far as the time of the last one allows.
// The alternative, one draw below a fixed amount of work, was either too slow for kernels of many
// small blocks or far too small for the others. The cost: some tenths of a second for each verdict.
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/core.h>

#include "core/contains.h"
#include "gate/elapsed.h"
#include "gate/gate_stages.h"
#include "inputs/families.h"
#include "shapes/tile_work.h"

namespace kw::gate {

namespace {

constexpr int64_t kFirstLeast = 256, kFirstFrom = 4100, kFirstTo = 65536;
constexpr int64_t kAlikeLeast = 16, kAlikeFrom = 64, kAlikeTo = 4096;
constexpr double kGain = 2;  // a smaller step is not worth its time
constexpr double kLeastStep = 4, kMostStep = 16;
constexpr int kMostSteps = 5, kBases = 3;
constexpr uint64_t kMostBeside = 5;  // of the other dims
constexpr double kFirstCost = 5e7, kLeastMeasured = 1e-3;
constexpr double kShareOfBudget = 1.0 / 300;  // for one dim: a fifth of a second
constexpr double kMostShare = 1.0 / 48;       // for all dims

/// Whole tiles are computed where a product has few rows.
double cost_of(const shapes::ShapeCase& shape) {
  return std::max(shape.work, shapes::tile_work(shape.graph));
}

/// Which of equal values counts may depend on how far behind it lies.
constexpr const char* kEqualValues = "ties";
bool ranks(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const graph::Node& node) {
    return graph::op_info(node.op).kind == graph::OpKind::Selection ||
           node.op == graph::Op::ArgMax || node.op == graph::Op::ArgMin;
  });
}

/// A narrow counter ends where almost all are set, and nowhere before.
constexpr const char* kManySet = "heavy";

/// Draws large extents of one dim, the others small; of all dims alike if it has no name.
class ExtentDraw {
 public:
  ExtentDraw(const task::Task& task, const shapes::ShapePlan& plan, std::string name, uint64_t seed)
      : task_(task), plan_(plan), name_(std::move(name)), random_(seed) {}

  /// A shape whose extent lies between the two, or below them where it would cost too much, but not
  /// below `least`. Not set: the reference refuses it, or it costs too much.
  Result<std::optional<shapes::ShapeCase>> draw(double least, double from, double to,
                                                double most_cost) {
    for (const auto& [name, range] : task_.dims) {
      if (grows(name)) to = std::min(to, static_cast<double>(range.high));
    }
    if (from > to) return std::optional<shapes::ShapeCase>();
    const double extent = from * std::pow(to / from, part());
    for (int base = 0; base < kBases; ++base) {
      bool costly = false;
      for (double tried = extent; tried >= least; tried /= 2) {
        shapes::DerivedShape made = KW_TRY(shapes::derive_shape(
            task_, plan_, dims_at(base, static_cast<int64_t>(tried)),
            name_.empty() ? "secret extents, all alike" : fmt::format("a secret, large {}", name_),
            most_cost));
        costly = made.costly || (made.shape && cost_of(*made.shape) > most_cost);
        if (made.shape && !costly) {
          made.shape->secret = made.shape->stretched = true;
          return std::move(made.shape);
        }
        if (!costly) break;
      }
      if (costly) break;
    }
    return std::optional<shapes::ShapeCase>();
  }

 private:
  bool grows(const std::string& name) const { return name_.empty() || name == name_; }
  double part() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  // References with heads or groups refuse most extents: then the extents of the task's own shape
  // are kept, and the drawn one is a multiple of its power of two.
  task::Dims dims_at(int base, int64_t extent) {
    task::Dims dims;
    if (base > 0) dims = plan_.demanded.front();
    for (const auto& [name, range] : task_.dims) {
      const auto own = dims.find(name);
      const int64_t power =
          own == dims.end() ? 1 : std::max<int64_t>(own->second & -own->second, 1);
      int64_t wanted = 1 + static_cast<int64_t>(random_() % kMostBeside);
      if (grows(name))
        wanted = extent / power * power;
      else if (base == 2)
        wanted = power;
      else if (base == 1)
        wanted = own->second;
      dims[name] = range.nearest(std::max<int64_t>(wanted, 1));
    }
    return dims;
  }

  const task::Task& task_;
  const shapes::ShapePlan& plan_;
  std::string name_;
  std::mt19937_64 random_;
};

}  // namespace

bool counts_bools(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const graph::Node& node) {
    if (node.op != graph::Op::Sum && node.op != graph::Op::CumSum) return false;
    const graph::Node* from = &graph[node.inputs[0]];
    while (from->op == graph::Op::Cast) from = &graph[from->inputs[0]];
    return from->dtype == tensor::DType::Bool;
  });
}

LargeExtents::LargeExtents(Gate& gate, Gate::Bench& bench)
    : gate_(gate),
      bench_(bench),
      seconds_(gate.request_.budget_seconds * kShareOfBudget),
      left_(gate.request_.budget_seconds * kMostShare) {}

// Each step begins where the last one ended.
Result<Stop> LargeExtents::grow(const std::string& name, uint64_t seed) {
  ExtentDraw draw(gate_.task(), bench_.at->pool->shapes(), name, seed);
  const bool alike = name.empty();
  double least = alike ? kAlikeLeast : kFirstLeast, from = alike ? kAlikeFrom : kFirstFrom;
  double to = alike ? kAlikeTo : kFirstTo, most_cost = kFirstCost;
  for (int step = 0; step < kMostSteps && left_ > 0 && !gate_.covered_.out_of_time(); ++step) {
    const std::optional<shapes::ShapeCase> shape = KW_TRY(draw.draw(least, from, to, most_cost));
    if (!shape || !fits_memory(shape->graph)) return Stop();
    const size_t right = gate_.report_.cells.size();
    const Elapsed elapsed;
    Stop stop = KW_TRY(gate_.run_extra(bench_, *shape, spikes_or_first(gate_.task())));
    if (stop || gate_.report_.cells.size() == right) return stop;
    if (ranks(shape->graph) && contains(inputs::families_for(gate_.task()), kEqualValues))
      stop = KW_TRY(gate_.run_extra(bench_, *shape, kEqualValues));
    if (!stop && counts_bools(shape->graph))
      stop = KW_TRY(gate_.run_extra(bench_, *shape, kManySet));
    if (stop) return stop;
    const double passed = elapsed.seconds();
    left_ -= passed;
    const auto extent =
        static_cast<double>(alike ? shape->dims.begin()->second : shape->dims.at(name));
    least = kGain * extent;
    from = kLeastStep * extent;
    to = kMostStep * extent;
    most_cost = cost_of(*shape) * seconds_ / std::max(passed, kLeastMeasured);
  }
  return Stop();
}

Result<Stop> LargeExtents::run() {
  const Pool& pool = *bench_.at->pool;
  const uint64_t secret = pool.replayable() && !pool.cells().empty()
                              ? pool.cells().front().seed
                              : KW_TRY(gate_.request_.entropy());
  uint64_t purpose = 0;
  for (const auto& [name, range] : gate_.task().dims) {
    const uint64_t seed = inputs::derive_seed(secret, ++purpose);
    if (range.high <= kFirstFrom) continue;
    Stop stop = KW_TRY(grow(name, seed));
    if (stop) return stop;
  }
  // Swapped dims may show an error only when they are equal, and large.
  if (gate_.task().dims.size() < 2) return Stop();
  return grow("", inputs::derive_seed(secret, ++purpose));
}

}  // namespace kw::gate
