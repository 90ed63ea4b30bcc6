#include "codegen/schedule.h"

#include <algorithm>

#include "lines/schedules.h"
#include "moves/schedules.h"
#include "rows/schedules.h"

namespace kw::codegen {

namespace {

constexpr Schedule kSchedules[] = {
    {"taps", "every thread computes windows of a few rows of one column", moves::taps_apply,
     moves::taps_emit, true, moves::taps_preferred},
    {"transpose", "tiles turned in shared memory", moves::transpose_applies, moves::transpose_emit,
     true},
    {"gather_rows", "a group of threads looks a row up and copies it", moves::gather_rows_applies,
     moves::gather_rows_emit, true},
    {"pointwise", "every thread computes a few packs of elements", moves::pointwise_applies,
     moves::pointwise_emit, true},
    {"pointwise_loop", "one wave of blocks walks over all packs", moves::pointwise_applies,
     moves::pointwise_loop_emit, true},
    {"column_split", "chunks of the reduced dims, joined by a second launch",
     lines::column_split_applies, lines::column_split_emit, true, lines::column_split_applies},
    {"column_whole", "neighbouring threads reduce neighbouring columns",
     lines::column_whole_applies, lines::column_whole_emit, true, lines::column_whole_applies},
    {"stacked_split", "several blocks per row of those that lie across, one launch per pass",
     rows::stacked_split_applies, rows::stacked_split_emit, true, rows::stacked_split_applies},
    {"stacked_rows", "a stack of threads per few neighbouring rows that lie across memory",
     rows::stacked_rows_apply, rows::stacked_rows_emit, true, rows::stacked_rows_apply},
    {"split_rows", "several blocks per row, one launch per pass", rows::split_rows_apply,
     rows::split_rows_emit, true},
    {"block_per_row", "a block per row: reductions and what follows them", rows::rows_apply,
     rows::block_per_row_emit, true},
    {"shared_row", "a block per row, read once into shared memory", rows::shared_rows_apply,
     rows::shared_rows_emit, true},
    {"lanes_per_row", "a warp or a part of one per row: reductions and what follows them",
     rows::lanes_apply, rows::lanes_per_row_emit, true, rows::rows_prefer_lanes},
    {"scan_chain", "several blocks scan a row and hand their totals on", lines::scan_chain_applies,
     lines::scan_chain_emit, true},
    {"scan_split", "several blocks scan a row, after its parts' totals", lines::scan_split_applies,
     lines::scan_split_emit, true},
    {"scan_columns_split", "several blocks scan neighbouring rows, after their parts' totals",
     lines::scan_columns_split_applies, lines::scan_columns_split_emit, true},
    {"scan_columns", "a stack of threads scans a few neighbouring rows",
     lines::scan_columns_applies, lines::scan_columns_emit, true},
    {"scan_warp", "a warp or a part of one scans a row", lines::scan_applies, lines::scan_warp_emit,
     true},
    {"scan_block", "a block scans a row", lines::scan_applies, lines::scan_block_emit, true},
    {"arg_split", "several blocks search a row", lines::arg_split_applies, lines::arg_split_emit,
     true},
    {"arg_warp", "a warp or a part of one searches a row", lines::arg_rows_applies,
     lines::arg_warp_emit, true},
    {"arg_block", "a block searches a row", lines::arg_rows_applies, lines::arg_block_emit, true},
    {"top_k", "a warp keeps a row's keys and ranks the best", lines::top_k_applies,
     lines::top_k_emit, true},
    {"sort", "a block sorts a row, or a tile of it that is merged", lines::sort_applies,
     lines::sort_emit, true},
    {"attention_mma", "a warp keeps queries' results while keys pass by, on tensor cores",
     moves::attention_mma_applies, moves::attention_mma_emit, true},
    {"attention", "a block keeps queries' results while keys pass by, on CUDA cores",
     moves::attention_applies, moves::attention_emit, true},
    {"matmul_wmma", "tiles on tensor cores", moves::matmul_wmma_applies, moves::matmul_wmma_emit,
     true},
    {"matmul_wmma_phases", "tiles on tensor cores, each of one phase of a stride",
     moves::matmul_wmma_phases_apply, moves::matmul_wmma_phases_emit, true,
     moves::matmul_wmma_phases_preferred},
    {"tap_sums", "a thread adds up the taps of a channel, several blocks along k",
     moves::tap_sums_apply, moves::tap_sums_emit, true, moves::tap_sums_preferred},
    {"matmul_wmma_split", "tiles on tensor cores, those of the last wave split along k",
     moves::matmul_wmma_split_applies, moves::matmul_wmma_split_emit, true,
     moves::matmul_wmma_split_preferred},
    {"matmul", "tiles on CUDA cores", moves::matmul_applies, moves::matmul_emit, true},
    {"matmul_phases", "tiles on CUDA cores, each of one phase of a stride",
     moves::matmul_phases_apply, moves::matmul_phases_emit, true, moves::matmul_phases_preferred},
    {"matmul_split", "tiles on CUDA cores, those of the last wave split along k",
     moves::matmul_split_applies, moves::matmul_split_emit, true, moves::matmul_split_preferred},
    {"scatter_block", "every block adds in a copy of its own", moves::scatter_block_applies,
     moves::scatter_block_emit, true},
    {"scatter", "a thread per source element, then one per result", moves::scatter_applies,
     moves::scatter_emit, true},
    {"generic", "one thread per element, loops for the rest", moves::generic_applies,
     moves::generic_emit, false},
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

std::vector<const Schedule*> schedules_for(const Region& region, const Situation& situation) {
  if (is_empty(region)) {
    if (!moves::generic_applies(region, situation)) return {};
    return {find_schedule("generic")};
  }
  std::vector<const Schedule*> rows;
  for (const Schedule& row : kSchedules) {
    if (row.applies(region, situation)) rows.push_back(&row);
  }
  std::stable_partition(rows.begin(), rows.end(), [&](const Schedule* row) {
    return row->prefers != nullptr && row->prefers(region, situation);
  });
  return rows;
}

}  // namespace kw::codegen
