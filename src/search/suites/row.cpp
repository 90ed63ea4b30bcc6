// One row exists as CSV and as JSON, and both are written and read. Four hand-written lists of
// columns would soon differ. So the columns are one list of members (core/fields.h), and the
// visitors below make cells of them. Readers ignore unknown columns, so tables of other programs
// and of later versions can be read. Generating code from a schema was the alternative; a list
// needs no extra tool. The cost: a member must have one of the types that the overloads below
// handle.
#include "suites/row.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "suites/csv.h"

namespace kw::suites {

void fields(auto& v, TaskRow& r) {
  v("kernel", r.kernel)("passed", r.passed)("run_id", r.run_id)("failed_stage", r.failed_stage);
  v("failure_reason", r.failure_reason)("failure_kind", r.failure_kind);
  v("speedup_vs_torch_compile", r.speedup_vs_torch_compile);
  v("speedup_vs_reference", r.speedup_vs_reference)("below_target", r.below_target);
  v("baseline_status", r.baseline_status)("artifacts_dir", r.artifacts_dir);
  v("regression", r.regression)("provider", r.provider)("model_id", r.model_id);
  v("relation", r.relation)("speedup", r.speedup)("speedup_low", r.speedup_low);
  v("speedup_high", r.speedup_high)("best_baseline", r.best_baseline)("measured", r.measured);
  v("time_us", r.time_us)("floor_us", r.floor_us)("of_floor", r.of_floor)("shape", r.shape);
  v("device", r.device)("target", r.target)("design", r.design)("tried", r.tried);
  v("rejected", r.rejected)("wall_seconds", r.wall_seconds)("cost_usd", r.cost_usd);
  v("tokens_in", r.tokens_in)("tokens_out", r.tokens_out)("max_abs_err", r.max_abs_err);
  v("max_rel_err", r.max_rel_err)("max_z", r.max_z)("certified", r.certified);
  v("task_hash", r.task_hash)("finished", r.finished)("baseline_failure", r.baseline_failure);
}

namespace {

std::string text_of(const std::string& value) { return value; }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{:.6g}", value); }
template <typename T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "";
}

bool read(const std::string& text, std::string* value) {
  *value = text;
  return true;
}
bool read(const std::string& text, bool* value) {
  const bool yes = text == "true" || text == "True";
  *value = yes;
  return yes || text == "false" || text == "False" || text.empty();
}
bool read(const std::string& text, int64_t* value) {
  *value = parse_int(text).value_or(0);
  return text.empty() || parse_int(text).has_value();
}
bool read(const std::string& text, double* value) {
  *value = parse_double(text).value_or(0);
  return text.empty() || parse_double(text).has_value();
}
template <typename T>
bool read(const std::string& text, std::optional<T>* value) {
  value->reset();
  return text.empty() || read(text, &value->emplace());
}

struct ColumnNames {
  std::vector<std::string> names;
  template <class T>
  ColumnNames& operator()(const char* name, const T&) {
    names.emplace_back(name);
    return *this;
  }
};

struct CellWriter {
  std::vector<std::string> cells;
  template <class T>
  CellWriter& operator()(const char*, const T& member) {
    cells.push_back(text_of(member));
    return *this;
  }
};

/// Reads the members whose columns the table has.
struct CellReader {
  const std::vector<std::string>& header;
  const CsvRecord& record;
  std::string problem = "";
  template <class T>
  CellReader& operator()(const char* name, T& member) {
    const auto at = static_cast<size_t>(std::ranges::find(header, name) - header.begin());
    if (at == header.size() || read(record.cells[at], &member)) return *this;
    if (problem.empty())
      problem = fmt::format("line {}: '{}' is not a {}", record.line, record.cells[at], name);
    return *this;
  }
};

}  // namespace

std::vector<std::string> column_names() {
  ColumnNames columns;
  list_fields(columns, TaskRow{});
  return columns.names;
}

std::string to_csv(const std::vector<TaskRow>& rows) {
  std::string text = csv_line(column_names());
  for (const TaskRow& row : rows) {
    CellWriter writer;
    list_fields(writer, row);
    text += csv_line(writer.cells);
  }
  return text;
}

Result<std::vector<TaskRow>> rows_from_csv(std::string_view text) {
  const std::vector<CsvRecord> records = KW_TRY(parse_csv(text));
  if (records.empty()) return input_error("there is no header line");
  const std::vector<std::string>& header = records.front().cells;
  if (!contains(header, "kernel")) return input_error("there is no column 'kernel'");
  std::vector<TaskRow> rows;
  for (size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    if (record.cells.size() != header.size()) {
      return input_error("line {}: {} cells under {} columns", record.line, record.cells.size(),
                         header.size());
    }
    TaskRow row;
    CellReader reader{header, record};
    fields(reader, row);
    if (!reader.problem.empty()) return input_error(reader.problem);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json to_json(const TaskRow& row) { return record_json(row); }

Result<TaskRow> row_from_json(const Json& json) {
  if (json["kernel"].as_string().empty()) return input_error("this is not a row of an evaluation");
  return read_record<TaskRow>(json);
}

}  // namespace kw::suites
