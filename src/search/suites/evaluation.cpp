#include "suites/evaluation.h"

#include <algorithm>

#include "core/json_writer.h"

namespace kw::suites {

int64_t Evaluation::regressions() const {
  return std::ranges::count_if(changes, [](const Change& change) { return change.regression(); });
}

void compute_totals(const std::vector<TaskRow>& before, Evaluation* evaluation) {
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

void fields(auto& v, Evaluation& e) {
  const When compared{!e.against.empty()};
  v("suite", e.suite)("settings", e.settings)("version", e.version)("started", e.started);
  v("updated", e.updated)("selected", e.selected)("complete", computed(e.complete()));
  v("interrupted", e.interrupted)("totals", e.totals)("rows", e.rows);
  v("against", e.against, compared)("regressions", computed(e.regressions()), compared);
  v("changes", e.changes, compared);
}

Json to_json(const Evaluation& evaluation) { return record_json(evaluation); }

}  // namespace kw::suites
