#include "gate/imposters.h"

#include <algorithm>
#include <chrono>

#include "core/json_writer.h"
#include "gate/imposter_kinds.h"
#include "gate/run_cell.h"
#include "inputs/families.h"
#include "metric/metric.h"

namespace kw::gate {

namespace {

bool stopped(const ImposterCell& cell, const ImposterOutputs& imposed) {
  for (size_t i = 0; i < cell.set.truths.size(); ++i) {
    metric::CompareOptions options;
    options.precision = cell.task.precision;
    options.moves_only = moves_only(cell.graph, cell.graph.outputs[i].node);
    if (!metric::compare(cell.set.truths[i], imposed.outputs[i], options).pass) return true;
  }
  return false;
}

/// A row under construction.
struct KillCount {
  ImposterRow row;
  bool same_on_paper = false;
  bool at_own_shape = false;  // it applied at a shape of the task
};

Status try_all(std::span<const ImposterKind> kinds, const ImposterCell& cell,
               const shapes::ShapeCase& shape, const std::string& family, KillCount* tallies) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    const ImposterOutputs imposed = KW_TRY(kinds[i].impose(cell));
    ImposterRow& row = tallies[i].row;
    if (!imposed.inapplicable.empty()) {
      if (row.tried == 0) row.inapplicable = imposed.inapplicable;
      continue;
    }
    row.inapplicable.clear();
    ++row.tried;
    tallies[i].at_own_shape = tallies[i].at_own_shape || shape.demanded;
    if (!stopped(cell, imposed)) continue;
    if (row.killed++ == 0) row.killed_at = task::dims_text(shape.dims) + ", " + family;
  }
  return Done{};
}

// A reduction of one-element rows is the identity, which says nothing about the task. A
// mathematically equal formula within the bound is not wrong either: without a large offset, a
// one-pass variance is accurate.
ImposterRow settled(KillCount tally) {
  ImposterRow row = std::move(tally.row);
  row.equivalent = tally.same_on_paper && row.survived() && row.tried > 0;
  if (row.survived() && row.tried > 0 && !tally.at_own_shape)
    row.inapplicable = "it applies only at derived shapes, and is right there";
  return row;
}

// Returns another set of the same shape, to imitate a buffer that was not cleared. Null when there
// is none.
Result<SetPtr> earlier_set(Pool& pool, size_t cell) {
  for (size_t i = 0; i < pool.cells().size(); ++i) {
    if (i != cell && pool.cells()[i].shape == pool.cells()[cell].shape) return pool.set(i);
  }
  return SetPtr();
}

}  // namespace

int64_t KillReport::applicable() const {
  return std::ranges::count_if(rows, &ImposterRow::applies);
}

int64_t KillReport::killed() const {
  return std::ranges::count_if(
      rows, [](const ImposterRow& row) { return row.applies() && row.killed > 0; });
}

Result<KillReport> kill_rate(Pool& pool, ports::Oracle& oracle,
                             const std::function<bool()>& interrupted) {
  const auto start = std::chrono::steady_clock::now();
  KillReport report;
  const auto answers = answer_imposters(), formulas = formula_imposters();
  std::vector<KillCount> tallies;
  for (const auto& kinds : {answers, formulas}) {
    for (const ImposterKind& kind : kinds)
      tallies.push_back({{kind.name, "", 0, 0, "", false}, kind.same_on_paper});
  }
  for (size_t i = 0; i < pool.cells().size(); ++i) {
    if (interrupted && interrupted()) return environment_error("interrupted");
    if (pool.cells()[i].family == inputs::kImmediatesFamily) continue;  // there is no candidate
    const SetPtr set = KW_TRY(pool.set(i));
    const bool empty = std::ranges::all_of(
        set->truths, [](const ports::Truth& truth) { return truth.value.empty(); });
    if (empty) continue;
    const SetPtr earlier = KW_TRY(earlier_set(pool, i));
    const shapes::ShapeCase& shape = pool.shape(pool.cells()[i]);
    const ImposterCell cell{pool.task(), shape.graph, *set, earlier.get(), oracle};
    const std::string& family = pool.cells()[i].family;
    KW_TRY(try_all(answers, cell, shape, family, tallies.data()));
    KW_TRY(try_all(formulas, cell, shape, family, tallies.data() + answers.size()));
    ++report.cells;
  }
  for (KillCount& tally : tallies) report.rows.push_back(settled(std::move(tally)));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  report.seconds = passed.count();
  return report;
}

void fields(auto& v, ImposterRow& r) {
  v("imposter", r.name)("tried", r.tried)("killed", r.killed)("killed_at", r.killed_at);
  v("equivalent", r.equivalent)("inapplicable", r.inapplicable)("survived", computed(r.survived()));
}

void fields(auto& v, KillReport& r) {
  v("cells", r.cells)("applicable", computed(r.applicable()))("killed", computed(r.killed()));
  v("complete", computed(r.complete()))("seconds", r.seconds)("imposters", r.rows);
}

Json to_json(const KillReport& report) { return record_json(report); }

}  // namespace kw::gate
