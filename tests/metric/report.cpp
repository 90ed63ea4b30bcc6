// Prints the study as the tables of docs/error-bound.md.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "study.h"

namespace {

using kw::metric::Row;

void print_honest(const std::vector<Row>& rows) {
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
    fmt::print("| {} | {} | {} | {} | {} | {:.2f}", worst.op, type, honest.size(), cells, refused,
               worst.worst_z);
    if (worst.worst_z > 0) fmt::print(" ({}, {})", worst.name, worst.worst_cell);
    fmt::print(" |\n");
  }
}

void print_imposters(const std::vector<Row>& rows) {
  std::map<std::string, std::vector<Row>> by_name;
  for (const Row& row : rows) {
    if (!row.honest) by_name[row.name].push_back(row);
  }
  for (const auto& [name, found] : by_name) {
    int cells = 0, refused = 0, missed = 0;
    Row fewest = found[0];
    for (const Row& row : found) {
      cells += row.cells;
      refused += row.refused;
      missed += row.refused == 0 ? 1 : 0;
      if (row.refused < fewest.refused) fewest = row;
    }
    fmt::print("| {} | {} | {} of {} | {} of {} ({} {}) | {} |\n", name, found.size(), refused,
               cells, fewest.refused, fewest.cells, fewest.op, fewest.dtype, missed);
  }
}

}  // namespace

int main() {
  std::vector<Row> all;
  fmt::print("| op | type | honest ways | judgements | refused | largest z (way, cell) |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const kw::metric::StudyOp& op : kw::metric::study_ops()) {
    const std::vector<Row> rows = kw::metric::study(op);
    print_honest(rows);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  fmt::print("\n| imposter | op and type | cells that refuse it | fewest | never refused |\n");
  fmt::print("|---|---|---|---|---|\n");
  print_imposters(all);
  fmt::print("\n| op | way | largest rms of z relative to plain fp32 |\n|---|---|---|\n");
  for (const Row& row : all) {
    if (row.plain > 4) fmt::print("| {} | {} | {:.3g} |\n", row.op, row.name, row.plain);
  }
  return 0;
}
