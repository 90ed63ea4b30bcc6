// One row exists as CSV and as JSON, and both are written and read. Four hand-written lists of
// columns would soon differ. So the columns are one table of member pointers, and the four
// functions go over it. Readers ignore unknown columns, so tables of other programs and of later
// versions can be read. Generating code from a schema was the alternative; a table needs no extra
// tool. The cost: a member must have one of the types that the overloads below handle.
#include "suites/row.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "core/text.h"
#include "suites/csv.h"

namespace kw::suites {

namespace {

using Member =
    std::variant<std::string TaskRow::*, bool TaskRow::*, int64_t TaskRow::*, double TaskRow::*,
                 std::optional<double> TaskRow::*, std::optional<bool> TaskRow::*>;

struct Column {
  const char* name;
  Member member;
};

constexpr Column kColumns[] = {
    {"kernel", &TaskRow::kernel},
    {"passed", &TaskRow::passed},
    {"run_id", &TaskRow::run_id},
    {"failed_stage", &TaskRow::failed_stage},
    {"failure_reason", &TaskRow::failure_reason},
    {"failure_kind", &TaskRow::failure_kind},
    {"speedup_vs_torch_compile", &TaskRow::speedup_vs_torch_compile},
    {"speedup_vs_reference", &TaskRow::speedup_vs_reference},
    {"below_target", &TaskRow::below_target},
    {"baseline_status", &TaskRow::baseline_status},
    {"artifacts_dir", &TaskRow::artifacts_dir},
    {"regression", &TaskRow::regression},
    {"provider", &TaskRow::provider},
    {"model_id", &TaskRow::model_id},
    {"relation", &TaskRow::relation},
    {"speedup", &TaskRow::speedup},
    {"speedup_low", &TaskRow::speedup_low},
    {"speedup_high", &TaskRow::speedup_high},
    {"best_baseline", &TaskRow::best_baseline},
    {"measured", &TaskRow::measured},
    {"time_us", &TaskRow::time_us},
    {"floor_us", &TaskRow::floor_us},
    {"of_floor", &TaskRow::of_floor},
    {"shape", &TaskRow::shape},
    {"device", &TaskRow::device},
    {"target", &TaskRow::target},
    {"design", &TaskRow::design},
    {"tried", &TaskRow::tried},
    {"rejected", &TaskRow::rejected},
    {"wall_seconds", &TaskRow::wall_seconds},
    {"cost_usd", &TaskRow::cost_usd},
    {"tokens_in", &TaskRow::tokens_in},
    {"tokens_out", &TaskRow::tokens_out},
    {"max_abs_err", &TaskRow::max_abs_err},
    {"max_rel_err", &TaskRow::max_rel_err},
    {"max_z", &TaskRow::max_z},
    {"certified", &TaskRow::certified},
    {"task_hash", &TaskRow::task_hash},
    {"finished", &TaskRow::finished},
    {"baseline_failure", &TaskRow::baseline_failure},
};

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

Json json_of(const std::string& value) { return value; }
Json json_of(bool value) { return value; }
Json json_of(int64_t value) { return value; }
Json json_of(double value) { return value; }
template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void take(const Json& json, std::string* value) { *value = json.as_string(); }
void take(const Json& json, bool* value) { *value = json.as_bool(); }
void take(const Json& json, int64_t* value) { *value = json.as_int(); }
void take(const Json& json, double* value) { *value = json.as_double(); }
template <typename T>
void take(const Json& json, std::optional<T>* value) {
  value->reset();
  if (!json.is_null()) take(json, &value->emplace());
}

const Column* find_column(std::string_view name) {
  const auto* it = std::ranges::find_if(kColumns, [&](const Column& c) { return name == c.name; });
  return it == std::end(kColumns) ? nullptr : it;
}

}  // namespace

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const Column& column : kColumns) names.emplace_back(column.name);
  return names;
}

std::string to_csv(const std::vector<TaskRow>& rows) {
  std::string text = csv_line(column_names());
  for (const TaskRow& row : rows) {
    std::vector<std::string> cells;
    for (const Column& column : kColumns) {
      cells.push_back(std::visit([&](auto member) { return text_of(row.*member); }, column.member));
    }
    text += csv_line(cells);
  }
  return text;
}

Result<std::vector<TaskRow>> rows_from_csv(std::string_view text) {
  const std::vector<CsvRecord> records = KW_TRY(parse_csv(text));
  if (records.empty()) return input_error("there is no header line");
  const std::vector<std::string>& header = records.front().cells;
  if (std::ranges::find(header, "kernel") == header.end())
    return input_error("there is no column 'kernel'");
  std::vector<TaskRow> rows;
  for (size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    if (record.cells.size() != header.size()) {
      return input_error(fmt::format("line {}: {} cells under {} columns", record.line,
                                     record.cells.size(), header.size()));
    }
    TaskRow row;
    for (size_t c = 0; c < header.size(); ++c) {
      const Column* column = find_column(header[c]);
      if (column == nullptr) continue;
      const bool good = std::visit(
          [&](auto member) { return read(record.cells[c], &(row.*member)); }, column->member);
      if (!good) {
        return input_error(
            fmt::format("line {}: '{}' is not a {}", record.line, record.cells[c], column->name));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json to_json(const TaskRow& row) {
  Json json = Json::object();
  for (const Column& column : kColumns) {
    json.set(column.name,
             std::visit([&](auto member) { return json_of(row.*member); }, column.member));
  }
  return json;
}

Result<TaskRow> row_from_json(const Json& json) {
  if (json["kernel"].as_string().empty()) return input_error("this is not a row of an evaluation");
  TaskRow row;
  for (const Column& column : kColumns) {
    std::visit([&](auto member) { take(json[column.name], &(row.*member)); }, column.member);
  }
  return row;
}

}  // namespace kw::suites
