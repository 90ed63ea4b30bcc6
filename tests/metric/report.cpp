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

/// How far errors are above those of plain fp32, for each operation.
void print_plain(const std::vector<Row>& rows) {
  std::map<std::string, Row> honest;
  std::map<std::string, std::map<std::string, double>> imposters;
  for (const Row& row : rows) {
    if (row.plain == 0) continue;
    Row& worst = honest[row.op];
    if (row.honest && row.plain > worst.plain) worst = row;
    if (!row.honest) imposters[row.op][row.name] = row.plain;
  }
  for (const auto& [op, row] : honest) {
    fmt::print("| {} | {:.2g} ({}) |", op, row.plain, row.name);
    for (const char* name : {"bf16 inside", "tf32 inside"}) {
      const bool tried = imposters[op].count(name) != 0;
      fmt::print(" {} |", tried ? fmt::format("{:.3g}", imposters[op][name]) : "");
    }
    fmt::print("\n");
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
  fmt::print("\n| op | largest of honest ways | bf16 inside | tf32 inside |\n|---|---|---|---|\n");
  print_plain(all);
  return 0;
}
