#include "plan/schedule.h"

#include <algorithm>
#include <map>

#include "attention/schedules.h"
#include "core/check.h"
#include "elements/schedules.h"
#include "matmul/schedules.h"
#include "rows/schedules.h"
#include "scans/schedules.h"

namespace kw::generate {

namespace {

/// All schedules, in the order of preference; the last one always applies.
constexpr const char* kOrder[] = {
    "taps",           "transpose",         "gather_rows",   "pointwise",
    "pointwise_loop", "column_split",      "column_whole",  "stacked_split",
    "stacked_rows",   "split_rows",        "block_per_row", "shared_row",
    "lanes_per_row",  "scan_chain",        "scan_split",    "scan_columns_split",
    "scan_columns",   "scan_warp",         "scan_block",    "arg_split",
    "arg_warp",       "arg_block",         "top_k",         "sort",
    "attention_mma",  "attention",         "matmul_wmma",   "matmul_wmma_phases",
    "tap_sums",       "matmul_wmma_split", "matmul",        "matmul_phases",
    "matmul_split",   "scatter_block",     "scatter",       "generic"};

std::vector<Schedule> all_in_order() {
  std::map<std::string, Schedule> rows;
  const std::span<const ScheduleSource> modules[] = {
      kElementSchedules, kScanSchedules, kRowSchedules, kAttentionSchedules, kMatmulSchedules};
  for (const auto module : modules) {
    for (const ScheduleSource source : module) {
      for (const Schedule& row : source()) rows.emplace(row.name, row);
    }
  }
  std::vector<Schedule> ordered;
  for (const char* name : kOrder) ordered.push_back(rows.at(name));
  KW_CHECK(ordered.size() == rows.size(), "a schedule has no place in the order");
  return ordered;
}

}  // namespace

std::span<const Schedule> schedules() {
  static const std::vector<Schedule> rows = all_in_order();
  return rows;
}

const Schedule* find_schedule(const std::string& name) {
  for (const Schedule& row : schedules()) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

namespace {

bool is_empty(const Shape& shape) {
  const Dim count = graph::count_of(shape);
  return count.is_constant() && count.value() == 0;
}

/// Whether the result or an operand is empty at all dims: speed does not matter.
bool is_empty(const Region& region) {
  if (is_empty(region.root().shape)) return true;
  for (const NodeId id : interior(region)) {
    for (const NodeId input : region.node(id).inputs) {
      if (is_empty(region.node(input).shape)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<const Schedule*> schedules_for(const Region& region, const TargetContext& context) {
  if (is_empty(region)) {
    const Schedule& floor = schedules().back();
    if (!floor.applies(region, context)) return {};
    return {&floor};
  }
  std::vector<const Schedule*> rows;
  for (const Schedule& row : schedules()) {
    if (row.applies(region, context)) rows.push_back(&row);
  }
  std::stable_partition(rows.begin(), rows.end(), [&](const Schedule* row) {
    return row->prefers != nullptr && row->prefers(region, context);
  });
  return rows;
}

}  // namespace kw::generate
