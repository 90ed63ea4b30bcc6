#include "plan/schedule.h"

#include <algorithm>

#include "attention/schedules.h"
#include "elements/schedules.h"
#include "matmul/schedules.h"
#include "rows/schedules.h"
#include "scans/schedules.h"

namespace kw::generate {

namespace {

constexpr Schedule kSchedules[] = {
    {"taps", "every thread computes windows of a few rows of one column", taps_apply, taps_emit,
     true, taps_preferred},
    {"transpose", "tiles turned in shared memory", transpose_applies, transpose_emit, true},
    {"gather_rows", "a group of threads looks a row up and copies it", gather_rows_applies,
     gather_rows_emit, true},
    {"pointwise", "every thread computes a few packs of elements", pointwise_applies,
     pointwise_emit, true},
    {"pointwise_loop", "one wave of blocks walks over all packs", pointwise_applies,
     pointwise_loop_emit, true},
    {"column_split", "chunks of the reduced dims, joined by a second launch", column_split_applies,
     column_split_emit, true, column_split_applies},
    {"column_whole", "neighbouring threads reduce neighbouring columns", column_whole_applies,
     column_whole_emit, true, column_whole_applies},
    {"stacked_split", "several blocks per row of those that lie across, one launch per pass",
     stacked_split_applies, stacked_split_emit, true, stacked_split_applies},
    {"stacked_rows", "a stack of threads per few neighbouring rows that lie across memory",
     stacked_rows_apply, stacked_rows_emit, true, stacked_rows_apply},
    {"split_rows", "several blocks per row, one launch per pass", split_rows_apply, split_rows_emit,
     true},
    {"block_per_row", "a block per row: reductions and what follows them", rows_apply,
     block_per_row_emit, true},
    {"shared_row", "a block per row, read once into shared memory", shared_rows_apply,
     shared_rows_emit, true},
    {"lanes_per_row", "a warp or a part of one per row: reductions and what follows them",
     lanes_apply, lanes_per_row_emit, true, rows_prefer_lanes},
    {"scan_chain", "several blocks scan a row and hand their totals on", scan_chain_applies,
     scan_chain_emit, true},
    {"scan_split", "several blocks scan a row, after its parts' totals", scan_split_applies,
     scan_split_emit, true},
    {"scan_columns_split", "several blocks scan neighbouring rows, after their parts' totals",
     scan_columns_split_applies, scan_columns_split_emit, true},
    {"scan_columns", "a stack of threads scans a few neighbouring rows", scan_columns_applies,
     scan_columns_emit, true},
    {"scan_warp", "a warp or a part of one scans a row", scan_applies, scan_warp_emit, true},
    {"scan_block", "a block scans a row", scan_applies, scan_block_emit, true},
    {"arg_split", "several blocks search a row", arg_split_applies, arg_split_emit, true},
    {"arg_warp", "a warp or a part of one searches a row", arg_rows_applies, arg_warp_emit, true},
    {"arg_block", "a block searches a row", arg_rows_applies, arg_block_emit, true},
    {"top_k", "a warp keeps a row's keys and ranks the best", top_k_applies, top_k_emit, true},
    {"sort", "a block sorts a row, or a tile of it that is merged", sort_applies, sort_emit, true},
    {"attention_mma", "a warp keeps queries' results while keys pass by, on tensor cores",
     attention_mma_applies, attention_mma_emit, true},
    {"attention", "a block keeps queries' results while keys pass by, on CUDA cores",
     attention_applies, attention_emit, true},
    {"matmul_wmma", "tiles on tensor cores", matmul_wmma_applies, matmul_wmma_emit, true},
    {"matmul_wmma_phases", "tiles on tensor cores, each of one phase of a stride",
     matmul_wmma_phases_apply, matmul_wmma_phases_emit, true, matmul_wmma_phases_preferred},
    {"tap_sums", "a thread adds up the taps of a channel, several blocks along k", tap_sums_apply,
     tap_sums_emit, true, tap_sums_preferred},
    {"matmul_wmma_split", "tiles on tensor cores, those of the last wave split along k",
     matmul_wmma_split_applies, matmul_wmma_split_emit, true, matmul_wmma_split_preferred},
    {"matmul", "tiles on CUDA cores", matmul_applies, matmul_emit, true},
    {"matmul_phases", "tiles on CUDA cores, each of one phase of a stride", matmul_phases_apply,
     matmul_phases_emit, true, matmul_phases_preferred},
    {"matmul_split", "tiles on CUDA cores, those of the last wave split along k",
     matmul_split_applies, matmul_split_emit, true, matmul_split_preferred},
    {"scatter_block", "every block adds in a copy of its own", scatter_block_applies,
     scatter_block_emit, true},
    {"scatter", "a thread per source element, then one per result", scatter_applies, scatter_emit,
     true},
    {"generic", "one thread per element, loops for the rest", generic_applies, generic_emit, false},
};

}  // namespace

std::span<const Schedule> schedules() { return kSchedules; }

const Schedule* find_schedule(const std::string& name) {
  for (const Schedule& row : kSchedules) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

namespace {

bool is_empty(const Shape& shape) {
  const Dim count = graph::count_of(shape);
  return count.is_constant() && count.value() == 0;
}

/// Nothing to compute, or nothing to compute it from, whatever the dims: no need for speed.
bool is_empty(const Region& region) {
  if (is_empty(region.root().shape)) return true;
  for (const graph::NodeId id : interior(region)) {
    for (const graph::NodeId input : region.node(id).inputs) {
      if (is_empty(region.node(input).shape)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<const Schedule*> schedules_for(const Region& region, const TargetContext& context) {
  if (is_empty(region)) {
    if (!generic_applies(region, context)) return {};
    return {find_schedule("generic")};
  }
  std::vector<const Schedule*> rows;
  for (const Schedule& row : kSchedules) {
    if (row.applies(region, context)) rows.push_back(&row);
  }
  std::stable_partition(rows.begin(), rows.end(), [&](const Schedule* row) {
    return row->prefers != nullptr && row->prefers(region, context);
  });
  return rows;
}

}  // namespace kw::generate
