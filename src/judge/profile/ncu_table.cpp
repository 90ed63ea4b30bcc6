#include "profile/ncu_table.h"

#include <algorithm>
#include <map>

#include "core/contains.h"
#include "core/text.h"
#include "profile/csv.h"

namespace kw::profile {
namespace {

// Columns that identify the launch of a row, in all versions.
constexpr std::string_view kLaunchColumns[] = {
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Kernel Time",
    "Context",
    "Stream",
    "Device",
    "CC",
    "Device Name",
    "Invocations",
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"};

size_t column(const CsvRow& header, std::string_view name) {
  return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

std::string_view cell(const CsvRow& row, size_t at) {
  return at < row.size() ? trim(row[at]) : std::string_view();
}

/// The text from the header line on. Profilers print other lines ("==PROF== …") around the table.
std::string table_lines(std::string_view text) {
  std::string out;
  bool inside = false;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view bare = trim(line);
    if (!inside) inside = bare.starts_with("\"ID\",") || bare.starts_with("ID,");
    if (inside && !bare.starts_with("==")) out += std::string(line) + "\n";
  }
  return out;
}

class TableReader {
 public:
  TableReader(const std::vector<CsvRow>& rows, const std::string& log)
      : rows_(rows), header_(rows.front()), log_(log) {
    id_ = column(header_, "ID");
    kernel_ = column(header_, "Kernel Name");
  }

  Result<NcuTable> run() {
    if (kernel_ == header_.size())
      return input_error("{}: the table has no column 'Kernel Name'", log_);
    NcuTable table;
    table.labels = column(header_, "Metric Name") != header_.size();
    const Status read = table.labels ? read_long(table) : read_wide(table);
    if (!read) return read.error();
    return table;
  }

 private:
  // One column per metric. The row below the header has the units and no id.
  Status read_wide(NcuTable& table) {
    if (rows_.size() < 2 || !cell(rows_[1], id_).empty())
      return input_error(
          "{}: no row of units below the header; export with --page raw --csv --print-units base",
          log_);
    const CsvRow& units = rows_[1];
    for (size_t r = 2; r < rows_.size(); ++r) {
      NcuLaunch launch{std::string(cell(rows_[r], id_)), std::string(cell(rows_[r], kernel_)), {}};
      if (launch.kernel.empty()) continue;
      for (size_t c = 0; c < header_.size(); ++c) {
        if (contains(kLaunchColumns, header_[c])) continue;
        launch.cells.push_back(
            {header_[c], std::string(cell(units, c)), std::string(cell(rows_[r], c))});
      }
      table.launches.push_back(std::move(launch));
    }
    return Done{};
  }

  // One row per metric. Rows about rules have no metric. Summaries have an average, not a value.
  Status read_long(NcuTable& table) {
    const size_t name = column(header_, "Metric Name"), unit = column(header_, "Metric Unit");
    size_t value = column(header_, "Metric Value");
    if (value == header_.size()) value = column(header_, "Average");
    if (unit == header_.size() || value == header_.size())
      return input_error("{}: the table lacks 'Metric Unit' or 'Metric Value'", log_);
    std::map<std::pair<std::string, std::string>, size_t> places;
    for (size_t r = 1; r < rows_.size(); ++r) {
      const CsvRow& row = rows_[r];
      const std::string kernel(cell(row, kernel_)), metric(cell(row, name));
      if (kernel.empty() || metric.empty()) continue;
      const std::string id(cell(row, id_));
      const auto [at, first] = places.emplace(std::pair(id, kernel), table.launches.size());
      if (first) table.launches.push_back({id, kernel, {}});
      table.launches[at->second].cells.push_back(
          {metric, std::string(cell(row, unit)), std::string(cell(row, value))});
    }
    return Done{};
  }

  const std::vector<CsvRow>& rows_;
  const CsvRow& header_;
  const std::string& log_;
  size_t id_ = 0, kernel_ = 0;
};

}  // namespace

Result<NcuTable> read_ncu_table(std::string_view text, const std::string& log) {
  Result<std::vector<CsvRow>> rows = parse_csv(table_lines(text));
  if (!rows) return std::move(rows).error().context(log);
  if (rows->empty())
    return input_error("{}: no table of metrics (a line beginning with \"ID\",) in it", log);
  return TableReader(*rows, log).run();
}

}  // namespace kw::profile
