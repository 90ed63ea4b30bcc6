// The problem: users of inference servers need the same answer whatever else is in the batch. Each
// row may still be right when the kernel changes the order of a sum with the size of the batch, so
// comparing with the truth does not show it; comparing bits does. The batch dims come from the
// graph (row_relations), so that no dim is varied along which the reference itself mixes rows. The
// sizes include one for every launch group the module chooses along that dim, because a change of
// kernels is the usual cause. The alternative, reading the order of sums from the code, would miss
// what depends on run-time values. The cost: a handful of runs of small shapes per candidate.
#include "gate/batches.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "gate/elapsed.h"
#include "gate/metamorphic.h"
#include "inputs/families.h"
#include "shapes/tile_work.h"

namespace kw::gate {

namespace {

using tensor::HostTensor;

// Rows take turns: ordinary values, and values of many magnitudes, whose sums show their order.
constexpr const char* kRowFamilies[] = {"normal", "heavy"};
constexpr const char* kNeighbourFamily = "spikes";  // large values beside the rows compared
constexpr double kTileShare = 2;                    // whole tiles are quicker than single elements
constexpr int64_t kTallExtent = 128;  // of the dims beside the batch, where it is long
constexpr size_t kMostSuggested = 24, kMostRepeated = 48;
constexpr int64_t kRepeated = 48;         // different rows in a batch of any size
constexpr int64_t kRepeatedInner = 1100;  // several terms for each thread of a block
constexpr double kRepeatedWork = 5e6;     // of these rows
constexpr int64_t kEverySize = 16;        // every rest of a small divisor
constexpr int64_t kMostGrowth = 16;
constexpr double kKnownSizeTime = 4;    // of a batch whose size has a reason
constexpr double kBatchesTime = 6;      // all of them, in times of the longest one
constexpr double kRowsBytes = 1 << 28;  // of one tensor of a long batch
constexpr int64_t kLeastRows = 8;       // compared for each size: one sum may agree by chance

enum : uint64_t { kRows = 1000, kNeighbours };  // purposes of seeds

/// The rows of one batch: which row of the first run each of them is; -1: a new one.
using RowOrder = std::vector<int64_t>;

int64_t extent_of(const Relation& relation, const std::vector<HostTensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int axis = relation.input_axes[i];
    if (axis >= 0) return inputs[i].shape[static_cast<size_t>(axis)];
  }
  return 0;
}

// A dim of weights alone, such as the columns of a product, is not a batch.
bool is_batch(const Relation& relation, const task::Task& task, const graph::Graph& graph) {
  if (relation.kind != RelationKind::Split) return false;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const task::TensorSpec* spec = task.find_input(graph.inputs[i].name);
    const bool weight = spec != nullptr && spec->role == task::Role::Weight;
    if (relation.input_axes[i] >= 0 && !weight) return true;
  }
  return false;
}

/// Bytes of the slices of a tensor along an axis.
struct RowBytes {
  int64_t outer = 1, extent = 1, bytes = 1;

  RowBytes(const HostTensor& tensor, int axis) : bytes(tensor::dtype_size(tensor.dtype)) {
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      const auto at = static_cast<int>(i);
      (at < axis ? outer : at == axis ? extent : bytes) *= tensor.shape[i];
    }
  }
  size_t at(int64_t block, int64_t row) const {
    return static_cast<size_t>((block * extent + row) * bytes);
  }
};

/// Takes rows of `from`; a row -1 comes from the same place of `others`.
HostTensor take_rows(const HostTensor& from, const HostTensor& others, int axis,
                     const RowOrder& order) {
  HostTensor to{from.dtype, from.shape, {}};
  to.shape[static_cast<size_t>(axis)] = static_cast<int64_t>(order.size());
  const RowBytes rows(from, axis), taken(to, axis);
  to.data.resize(static_cast<size_t>(taken.outer * taken.extent * taken.bytes));
  for (int64_t block = 0; block < rows.outer; ++block) {
    for (int64_t row = 0; row < taken.extent; ++row) {
      const int64_t source = order[static_cast<size_t>(row)];
      const HostTensor& tensor = source < 0 ? others : from;
      std::memcpy(to.data.data() + taken.at(block, row),
                  tensor.data.data() + rows.at(block, source < 0 ? row : source),
                  static_cast<size_t>(rows.bytes));
    }
  }
  return to;
}

/// Returns the first row of `now` that differs from its row in `first`; not set when all agree.
std::optional<int64_t> other_row(const HostTensor& first, const HostTensor& now, int axis,
                                 const RowOrder& order) {
  const RowBytes before(first, axis), after(now, axis);
  for (int64_t block = 0; block < after.outer; ++block) {
    for (int64_t row = 0; row < after.extent; ++row) {
      const int64_t source = order[static_cast<size_t>(row)];
      if (source < 0) continue;
      if (std::memcmp(first.data.data() + before.at(block, source),
                      now.data.data() + after.at(block, row),
                      static_cast<size_t>(after.bytes)) != 0)
        return row;
    }
  }
  return std::nullopt;
}

class BatchProbe {
 public:
  BatchProbe(Pool& pool, const CellRunner& runner, const BatchOptions& options)
      : pool_(pool), runner_(runner), options_(options) {}

  Result<BatchReport> run() {
    for (const auto& [dim, shapes] : shapes_by_dim()) {
      bool varied = false;
      for (const shapes::ShapeCase* shape : shapes) {
        const bool ran = KW_TRY(vary(dim, *shape));
        varied = varied || ran;
        if (over()) break;
      }
      if (!over()) {
        const bool ran = KW_TRY(vary_repeated(dim));
        varied = varied || ran;
      }
      if (varied) report_.dims.push_back(dim);
      if (over()) break;
    }
    return std::move(report_);
  }

 private:
  bool over() const { return report_.failed.has_value() || !report_.difference.empty(); }

  // For each batch dim: the shape with most rows, and the one with most work.
  std::map<std::string, std::set<const shapes::ShapeCase*>> shapes_by_dim() {
    struct Best {
      const shapes::ShapeCase* shape;
      double rank;
    };
    std::map<std::string, Best> longest, largest;
    for (const shapes::ShapeCase* shape : pool_.all_shapes()) {
      const double work = std::max(shape->work, shapes::tile_work(shape->graph) / kTileShare);
      if (shape->stretched || (options_.most_work > 0 && work > options_.most_work)) continue;
      if (!runner_.programs.select(runner_.matching, runner_.task, shape->graph, shape->dims))
        continue;
      for (const Relation& relation : row_relations(shape->graph)) {
        if (!is_batch(relation, runner_.task, shape->graph)) continue;
        const auto rows = static_cast<double>(shape->dims.at(relation.dim));
        if (rows < 2) continue;
        const auto take = [&](std::map<std::string, Best>& best, double rank) {
          const auto at = best.find(relation.dim);
          if (at == best.end() || rank > at->second.rank) best[relation.dim] = {shape, rank};
        };
        take(longest, rows);
        take(largest, shape->work);
      }
    }
    std::map<std::string, std::set<const shapes::ShapeCase*>> shapes;
    for (const auto& [dim, best] : longest) {
      shapes[dim] = {best.shape, largest.at(dim).shape};
      if (const shapes::ShapeCase* tall = tall_shape(dim, *best.shape, *largest.at(dim).shape))
        shapes[dim].insert(tall);
    }
    return shapes;
  }

  // As many rows as the longest shape has, each with enough elements that the order of a sum shows.
  // Null: there is none that costs little enough.
  const shapes::ShapeCase* tall_shape(const std::string& dim, const shapes::ShapeCase& longest,
                                      const shapes::ShapeCase& largest) {
    task::Dims dims = largest.dims;
    for (auto& [name, extent] : dims) extent = std::min(extent, kTallExtent);
    for (dims[dim] = longest.dims.at(dim); dims[dim] > kLeastRows; dims[dim] /= 2) {
      Result<graph::Graph> graph = runner_.task.graph_at(dims);
      if (!graph) return nullptr;
      const double work = std::max(shapes::work_of(*graph), shapes::tile_work(*graph) / kTileShare);
      if (options_.most_work > 0 && work > options_.most_work) continue;
      made_.push_back(std::make_unique<shapes::ShapeCase>());
      made_.back()->dims = dims;
      made_.back()->graph = std::move(graph).value();
      made_.back()->work = work;
      return made_.back().get();
    }
    return nullptr;
  }

  // A batch of few different rows, each long enough that the order of a sum shows.
  Result<std::optional<shapes::ShapeCase>> repeated_shape(const std::string& dim) const {
    const shapes::ShapePlan& plan = pool_.shapes();
    if (plan.demanded.empty() || plan.demanded.back().count(dim) == 0)
      return std::optional<shapes::ShapeCase>();
    for (int64_t inner = kRepeatedInner; inner >= 1; inner /= 2) {
      for (const bool own : {false, true}) {  // heads and groups accept few other extents
        task::Dims dims = plan.demanded.back();
        for (auto& [name, extent] : dims) {
          if (name == dim || !own)
            extent = adjusted(name, std::min(extent, name == dim ? kRepeated : inner));
        }
        shapes::DerivedShape made = KW_TRY(
            shapes::derive_shape(runner_.task, plan, dims, "rows that repeat", kRepeatedWork));
        if (!made.shape || shapes::tile_work(made.shape->graph) / kTileShare > kRepeatedWork)
          continue;
        if (runner_.programs.select(runner_.matching, runner_.task, made.shape->graph, dims))
          return std::move(made.shape);
      }
    }
    return std::optional<shapes::ShapeCase>();
  }

  int64_t adjusted(const std::string& name, int64_t extent) const {
    const auto at = runner_.task.dims.find(name);
    if (at == runner_.task.dims.end()) return extent;
    return at->second.nearest(extent);
  }

  /// Few different rows, and what the candidate makes of them.
  struct Repeated {
    const Relation& relation;
    const shapes::ShapeCase& shape;
    const std::vector<HostTensor>& inputs;
    const Judged& first;
  };

  // Batches of every small size, of the sizes that the candidate suggests, about the benchmark's,
  // and as large as the time allows. Their rows repeat a few rows at random, so equal rows meet
  // other places and neighbours within one run, and no batch needs inputs of its own.
  Result<bool> vary_repeated(const std::string& dim) {
    const std::optional<shapes::ShapeCase> shape = KW_TRY(repeated_shape(dim));
    if (!shape) return false;
    for (const Relation& relation : row_relations(shape->graph)) {
      if (relation.dim != dim || !is_batch(relation, runner_.task, shape->graph)) continue;
      const std::vector<HostTensor> inputs = KW_TRY(draw_rows(relation, *shape));
      const Judged first = KW_TRY(runner_.run(*shape, inputs, {}));
      if (first.result != CellResult::Right) {
        note_failure(first, shape->dims);
        return false;
      }
      const Repeated rows{relation, *shape, inputs, first};
      for (int64_t size = 1; size <= kEverySize && !over(); ++size)
        (void)KW_TRY(repeat(rows, adjusted(dim, size), 1));
      KW_TRY(grow(rows));
      // The longest first: behind most limits, all longer batches show the same.
      const std::set<int64_t> sizes = known_sizes(dim);
      for (auto size = sizes.rbegin(); size != sizes.rend() && !over(); ++size)
        (void)KW_TRY(repeat(rows, *size, kKnownSizeTime));
      return report_.most_rows > 0;
    }
    return false;
  }

  std::set<int64_t> known_sizes(const std::string& dim) const {
    std::set<int64_t> sizes;
    for (const int64_t size : suggested_sizes(dim, INT64_MAX, kMostRepeated)) sizes.insert(size);
    for (const task::Dims& dims : pool_.shapes().demanded) {
      for (const int64_t beside : {-1, 0, 1}) sizes.insert(adjusted(dim, dims.at(dim) + beside));
    }
    sizes.erase(0);
    return sizes;
  }

  // Longer batches, as long as one takes no more than its share of the time.
  Status grow(const Repeated& rows) {
    const std::string& dim = rows.relation.dim;
    const auto range = runner_.task.dims.find(dim);
    if (range == runner_.task.dims.end()) return Done{};
    for (int step = 0; !over(); ++step) {
      const int64_t last = std::max(report_.most_rows, kRepeated);
      const double allowed = 0.9 * options_.batch_seconds / std::max(row_seconds_, 1e-9);
      const double random =
          static_cast<double>(inputs::derive_seed(options_.seed, 77 + step) >> 11) * 0x1p-53;
      const double most = std::min({allowed, static_cast<double>(last * kMostGrowth),
                                    static_cast<double>(range->second.high)});
      const int64_t size = adjusted(dim, static_cast<int64_t>(most * (0.75 + 0.25 * random)));
      if (size < 2 * last) return Done{};
      const bool ran = KW_TRY(repeat(rows, size, 1));
      if (!ran) return Done{};
    }
    return Done{};
  }

  // Returns whether a batch of this many rows was run. `times`: of the time for one batch.
  Result<bool> repeat(const Repeated& repeated, int64_t size, double times) {
    const auto& [relation, shape, inputs, first] = repeated;
    if (options_.interrupted && options_.interrupted()) return environment_error("interrupted");
    const auto rows = static_cast<double>(size);
    double most_bytes = 0;
    for (const std::vector<HostTensor>* all : {&inputs, &first.outputs}) {
      for (const HostTensor& tensor : *all)
        most_bytes = std::max(most_bytes, static_cast<double>(tensor.data.size()));
    }
    const int64_t known = extent_of(relation, inputs);
    const bool affordable = rows * row_seconds_ <= times * options_.batch_seconds &&
                            spent_ <= kBatchesTime * options_.batch_seconds &&
                            most_bytes / static_cast<double>(known) * rows <= kRowsBytes;
    if (!affordable) {
      report_.not_tried.insert(size);
      return false;
    }
    RowOrder order(static_cast<size_t>(size));
    for (size_t row = 0; row < order.size(); ++row)
      order[row] = static_cast<int64_t>(
          inputs::derive_seed(options_.seed + static_cast<uint64_t>(size), row) %
          static_cast<uint64_t>(known));
    const Elapsed elapsed;
    const bool ran = KW_TRY(compare(relation, shape, inputs, inputs, order, first));
    if (!ran) return false;
    const double seconds = elapsed.seconds();
    spent_ += seconds;
    if (size > report_.most_rows) row_seconds_ = seconds / rows;
    report_.most_rows = std::max(report_.most_rows, size);
    return true;
  }

  Result<bool> vary(const std::string& dim, const shapes::ShapeCase& shape) {
    for (const Relation& relation : row_relations(shape.graph)) {
      if (relation.dim != dim || relation.kind != RelationKind::Split) continue;
      const std::vector<HostTensor> inputs = KW_TRY(draw_rows(relation, shape));
      const Judged first = KW_TRY(runner_.run(shape, inputs, {}));
      if (first.result != CellResult::Right) {
        note_failure(first, shape.dims);
        return false;
      }
      const std::vector<HostTensor> others =
          KW_TRY(inputs::draw_inputs(runner_.task, shape.graph, shape.dims, kNeighbourFamily,
                                     inputs::derive_seed(options_.seed, kNeighbours)));
      bool ran = false;
      for (const RowOrder& order : orders(relation, shape, extent_of(relation, inputs))) {
        if (options_.interrupted && options_.interrupted()) return environment_error("interrupted");
        const bool one = KW_TRY(compare(relation, shape, inputs, others, order, first));
        ran = ran || one;
        if (over()) break;
      }
      return ran;
    }
    return false;
  }

  Result<std::vector<HostTensor>> draw_rows(const Relation& relation,
                                            const shapes::ShapeCase& shape) const {
    std::vector<std::vector<HostTensor>> drawn;
    for (const char* family : kRowFamilies)
      drawn.push_back(KW_TRY(inputs::draw_inputs(runner_.task, shape.graph, shape.dims, family,
                                                 inputs::derive_seed(options_.seed, kRows))));
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < shape.graph.inputs.size(); ++i) {
      const int axis = relation.input_axes[i];
      RowOrder turns(static_cast<size_t>(shape.dims.at(relation.dim)));
      for (size_t row = 0; row < turns.size(); ++row)
        turns[row] = row % 2 == 0 ? static_cast<int64_t>(row) : -1;
      inputs.push_back(axis < 0 ? drawn[0][i] : take_rows(drawn[0][i], drawn[1][i], axis, turns));
    }
    return inputs;
  }

  // Other neighbours, other places, one row alone, and parts of the batch.
  std::vector<RowOrder> orders(const Relation& relation, const shapes::ShapeCase& shape,
                               int64_t rows) const {
    std::vector<RowOrder> all;
    if (rows < 2) return all;
    RowOrder kept(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row) {
      const bool stays = inputs::derive_seed(options_.seed, static_cast<uint64_t>(row)) % 2 == 0;
      kept[static_cast<size_t>(row)] = stays ? row : -1;
    }
    all.push_back(kept);
    all.push_back(inputs::shuffled(rows, inputs::derive_seed(options_.seed, 1)));
    for (const int64_t size : sizes(relation.dim, shape, rows)) {
      const RowOrder order = inputs::shuffled(
          rows, inputs::derive_seed(options_.seed, 2 + static_cast<uint64_t>(size)));
      for (int64_t row = 0; row < std::min(kLeastRows, rows); row += size) {
        const auto from = order.begin() + row;
        all.emplace_back(from, from + std::min(size, rows - row));
      }
    }
    return all;
  }

  // One row, a random number of rows, and one size for every other launch group along the dim.
  std::vector<int64_t> sizes(const std::string& dim, const shapes::ShapeCase& shape,
                             int64_t rows) const {
    std::vector<int64_t> chosen = {1};
    if (runner_.programs.module().groups.size() > 1) {
      std::set<std::string> variants = {variant(dim, shape, rows), variant(dim, shape, 1)};
      for (int64_t size = 2; size < rows; size *= 2) {
        if (variants.insert(variant(dim, shape, size)).second) chosen.push_back(size);
      }
    }
    if (rows > 2) {
      const uint64_t draw = inputs::derive_seed(options_.seed, static_cast<uint64_t>(rows));
      chosen.push_back(2 + static_cast<int64_t>(draw % static_cast<uint64_t>(rows - 2)));
    }
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (chosen.size() > static_cast<size_t>(options_.runs_per_dim))
      chosen.resize(static_cast<size_t>(options_.runs_per_dim));
    for (const int64_t size : suggested_sizes(dim, rows, kMostSuggested)) {
      if (!contains(chosen, size)) chosen.push_back(size);
    }
    return chosen;
  }

  // Extents of this dim at which the candidate was judged because of a limit of its own.
  std::vector<int64_t> suggested_sizes(const std::string& dim, int64_t rows, size_t most) const {
    std::set<int64_t> extents;
    const std::vector<const shapes::ShapeCase*> all = pool_.all_shapes();
    for (size_t i = pool_.shapes().cases.size(); i < all.size(); ++i) {
      const shapes::ShapeCase* shape = all[i];
      const auto at = shape->dims.find(dim);
      if (shape->stretched || shape->secret) continue;
      if (at != shape->dims.end() && at->second > 1 && at->second < rows)
        extents.insert(at->second);
    }
    std::vector<int64_t> some;
    const size_t step = 1 + extents.size() / most;
    size_t index = 0;
    for (const int64_t extent : extents) {
      if (index++ % step == 0) some.push_back(extent);
    }
    return some;
  }

  // The kernels that the module launches for a batch of this size; "" when it does not serve it.
  std::string variant(const std::string& dim, const shapes::ShapeCase& shape, int64_t rows) const {
    task::Dims dims = shape.dims;
    dims[dim] = rows;
    const Result<graph::Graph> graph = runner_.task.graph_at(dims);
    if (!graph) return "";
    const auto selection = runner_.programs.select(runner_.matching, runner_.task, *graph, dims);
    if (!selection) return "";
    return fmt::format("{}:{}", selection->group, join(selection->kernels, ";"));
  }

  // Returns whether the batch was run.
  Result<bool> compare(const Relation& relation, const shapes::ShapeCase& shape,
                       const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& others,
                       const RowOrder& order, const Judged& first) {
    shapes::ShapeCase other = shape;
    other.dims[relation.dim] = static_cast<int64_t>(order.size());
    // Extents outside the task's range are not the candidate's concern.
    const auto range = runner_.task.dims.find(relation.dim);
    if (range != runner_.task.dims.end() && !range->second.takes(other.dims[relation.dim]))
      return false;
    if (other.dims != shape.dims) {
      Result<graph::Graph> graph = runner_.task.graph_at(other.dims);
      if (!graph) return false;
      other.graph = std::move(graph).value();
    }
    std::vector<HostTensor> changed;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int axis = relation.input_axes[i];
      changed.push_back(axis < 0 ? inputs[i] : take_rows(inputs[i], others[i], axis, order));
    }
    const Judged now = KW_TRY(runner_.run(other, changed, {}));
    if (now.result == CellResult::NotServed) return false;
    if (now.result != CellResult::Right) {
      note_failure(now, other.dims);
      return false;
    }
    ++report_.runs;
    for (size_t i = 0; i < first.outputs.size() && report_.difference.empty(); ++i) {
      const int axis = relation.output_axes[i];
      if (axis < 0) continue;
      const std::optional<int64_t> row = other_row(first.outputs[i], now.outputs[i], axis, order);
      if (!row) continue;
      report_.difference =
          fmt::format("{} along {}: row {} of {} differs in its bits from row {} of {}, {}",
                      shape.graph.outputs[i].name, relation.dim, order[static_cast<size_t>(*row)],
                      shape.dims.at(relation.dim), *row, order.size(), task::dims_text(other.dims));
      report_.first_dims = shape.dims;
      report_.other_dims = other.dims;
    }
    return true;
  }

  void note_failure(const Judged& judged, const task::Dims& dims) {
    if (judged.failed()) {
      report_.failed = judged;
      report_.failed_dims = dims;
    } else if (report_.left_out.empty()) {
      report_.left_out = task::dims_text(dims) + ": " + judged.reason;
    }
  }

  Pool& pool_;
  const CellRunner& runner_;
  const BatchOptions& options_;
  BatchReport report_;
  double row_seconds_ = 0;  // of one row in the longest batch so far
  double spent_ = 0;        // seconds, on batches whose rows repeat
  std::vector<std::unique_ptr<shapes::ShapeCase>> made_;
};

}  // namespace

Result<BatchReport> vary_batches(Pool& pool, const CellRunner& runner,
                                 const BatchOptions& options) {
  return BatchProbe(pool, runner, options).run();
}

}  // namespace kw::gate
