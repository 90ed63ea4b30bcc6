// Prints the study as the tables of docs/error-bound.md.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "study.h"

int main() {
  using namespace kw::metric;  // NOLINT: one short program over one namespace
  fmt::print("| op | type | honest ways | judgements | refused | largest z (way, cell) |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  std::vector<Row> all;
  for (const StudyOp& op : study_ops()) {
    const std::vector<Row> rows = study(op);
    all.insert(all.end(), rows.begin(), rows.end());
    std::map<std::string, std::vector<Row>> by_type;
    for (const Row& row : rows) {
      if (row.honest) by_type[row.dtype].push_back(row);
    }
    for (const auto& [type, honest] : by_type) {
      int cells = 0, refused = 0;
      Row worst = honest[0];
      for (const Row& row : honest) {
        cells += row.cells;
        refused += row.refused;
        if (row.worst_z > worst.worst_z) worst = row;
      }
      fmt::print("| {} | {} | {} | {} | {} | {:.2f} ({}, {}) |\n", op.name, type, honest.size(),
                 cells, refused, worst.worst_z, worst.name, worst.worst_cell);
    }
  }
  fmt::print("\n| op | type | imposter | refused in |\n|---|---|---|---|\n");
  for (const Row& row : all) {
    if (!row.honest)
      fmt::print("| {} | {} | {} | {} of {} |\n", row.op, row.dtype, row.name, row.refused,
                 row.cells);
  }
  return 0;
}
