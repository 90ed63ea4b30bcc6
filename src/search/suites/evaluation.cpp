#include "suites/evaluation.h"

#include <algorithm>

namespace kw::suites {

int64_t Evaluation::regressions() const {
  return std::ranges::count_if(changes, [](const Change& change) { return change.regression(); });
}

void settle(const std::vector<TaskRow>& before, Evaluation* evaluation) {
  evaluation->totals = totals_of(evaluation->rows);
  evaluation->changes.clear();
  for (TaskRow& row : evaluation->rows) row.regression.clear();
  if (evaluation->against.empty()) return;
  evaluation->changes = changes_between(before, evaluation->rows);
  for (const Change& change : evaluation->changes) {
    if (!change.regression()) continue;
    std::ranges::find(evaluation->rows, change.kernel, &TaskRow::kernel)->regression =
        change.text();
  }
}

Json to_json(const Evaluation& evaluation) {
  Json settings = Json::object();
  for (const auto& [name, value] : evaluation.settings) settings.set(name, value);
  Json rows = Json::array(), changes = Json::array();
  for (const TaskRow& row : evaluation.rows) rows.push(to_json(row));
  for (const Change& change : evaluation.changes) changes.push(to_json(change));
  Json json = Json::object();
  json.set("suite", evaluation.suite).set("settings", std::move(settings));
  json.set("version", evaluation.version).set("started", evaluation.started);
  json.set("updated", evaluation.updated).set("selected", evaluation.selected);
  json.set("complete", evaluation.complete()).set("interrupted", evaluation.interrupted);
  json.set("totals", to_json(evaluation.totals)).set("rows", std::move(rows));
  if (!evaluation.against.empty()) {
    json.set("against", evaluation.against).set("regressions", evaluation.regressions());
    json.set("changes", std::move(changes));
  }
  return json;
}

}  // namespace kw::suites
