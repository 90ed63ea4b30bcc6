// Properties of a right candidate that users may require, and what explains them: batch invariance,
// and the order of its sum. Determinism is found on the way, when cells run again (gate_cells.cpp).
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "gate/gate_stages.h"
#include "gate/sum_order.h"
#include "inputs/families.h"
#include "shapes/tile_work.h"

namespace kw::gate {

using record::Stage;

namespace {

constexpr double kBatchShare = 480;  // of the budget, for one batch of many rows
constexpr double kBatchWork = 2e7;   // of a shape on the virtual GPU: tens of milliseconds
constexpr const char* kNoBatch =
    "not applicable: the reference treats no dim of its inputs as a batch";

constexpr const char* kOtherBits =
    "its bits differ from run to run, so also from batch to batch: it is not deterministic";

/// `differs`: other bits in another run of the same inputs.
record::BatchInvariance record_of(const BatchReport& batches, bool differs) {
  record::BatchInvariance record{batches.same(), batches.dims, batches.runs, batches.difference};
  record.most_rows = batches.most_rows;
  for (const int64_t size : batches.not_tried) {
    if (size > batches.most_rows) record.not_tried.push_back(size);
  }
  if (differs && !batches.dims.empty()) {
    record.holds = false;
    if (record.why.empty()) record.why = kOtherBits;
  }
  if (record.holds) return record;
  record.why =
      batches.left_out.empty() ? kNoBatch : "not checked: no result at " + batches.left_out;
  return record;
}

/// The shape that shows most of a sum: as many terms as possible, and rows to ask with.
const shapes::ShapeCase* telling_shape(const Pool& pool, double most_work) {
  const shapes::ShapeCase* best = nullptr;
  for (const shapes::ShapeCase* shape : pool.all_shapes()) {
    if (most_work > 0 && std::max(shape->work, shapes::tile_work(shape->graph)) > most_work)
      continue;
    if (best == nullptr || shape->work > best->work) best = shape;
  }
  return best;
}

Result<std::string> order_at(const CellRunner& run, const task::Dims& dims) {
  Result<graph::Graph> graph = run.task.graph_at(dims);
  if (!graph) return std::string();
  shapes::ShapeCase shape;
  shape.dims = dims;
  shape.graph = std::move(graph).value();
  const std::optional<SumOrder> order = KW_TRY(probe_sum_order(run, shape));
  return order ? order->text() : std::string();
}

/// Why two batches differ: "; the order of the sum changes: …", or "".
Result<std::string> change_of_order(const CellRunner& run, const BatchReport& batches) {
  const std::string first = KW_TRY(order_at(run, batches.first_dims));
  const std::string other = KW_TRY(order_at(run, batches.other_dims));
  if (first.empty() || other.empty() || first == other) return std::string();
  return fmt::format("; the order of the sum changes: {} at {}, {} at {}", first,
                     task::dims_text(batches.first_dims), other,
                     task::dims_text(batches.other_dims));
}

}  // namespace

Result<Stop> Gate::batch_stage() {
  begin(Stage::Hygiene, "comparing rows in other batches");
  Bench& bench = judge_bench();
  if (!gpu_ && !unknown_instruction_.empty()) {
    end("skipped");
    return Stop();
  }
  BatchOptions options;
  options.most_work = gpu_ ? 0 : kBatchWork;
  options.batch_seconds = request_.budget_seconds / kBatchShare;
  options.seed = inputs::derive_seed(bench.at->pool->hash_seed(), right_cells_);
  options.interrupted = request_.interrupted;
  const CellRunner run = runner(bench, {});
  const BatchReport batches = KW_TRY(vary_batches(*bench.at->pool, run, options));
  if (batches.failed) {
    KW_TRY(check_alive(bench, *batches.failed));
    const record::Cell cell{task::dims_text(batches.failed_dims), "normal", 0, false};
    return Stop(verdict_from(*batches.failed, cell, request_.repro.line(), Stage::Hygiene,
                             &bench == &virtual_));
  }
  batch_ = record_of(batches, !deterministic_.value_or(true));
  if (!batches.difference.empty())
    batch_.why += KW_TRY(change_of_order(run, batches));
  else if (const shapes::ShapeCase* shape = telling_shape(*bench.at->pool, options.most_work))
    sum_order_ = KW_TRY(order_at(run, shape->dims));
  say(batch_.holds && *batch_.holds ? fmt::format("along {}: the same bits in {} other batches",
                                                  join(batches.dims, ", "), batches.runs)
                                    : batch_.why);
  if (!task().precision.batch_invariant) {
    end("ok");
    return Stop();
  }
  if (batch_.holds && !*batch_.holds) {
    return Stop(record::Rejected{
        Stage::Hygiene,
        batch_.why == kOtherBits
            ? "batch invariance is required, and " + batch_.why
            : "batch invariance is required, and the bits of a row differ between batches: " +
                  batch_.why,
        std::nullopt, request_.repro.line()});
  }
  if (!batch_.holds && batch_.why != kNoBatch) missing_ = "batch invariance is " + batch_.why;
  end("ok");
  return Stop();
}

}  // namespace kw::gate
