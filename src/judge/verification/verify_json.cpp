#include "core/json_writer.h"
#include "ports/bound.h"
#include "verification/verify.h"

namespace kw::verification {

Json to_json(const VerifyReport& report) {
  const gate::GateReport& gate = report.gate;
  JsonWriter v(record::to_json(gate.verdict));
  v("module", report.module_name)("trust", report.trust);
  v("certifies", report.certifies())("recorded", report.recorded)("device", gate.device);
  v("compiler", gate.compiler)("compiler_notes", report.compiler_notes, Zero::Omit)(
      "replay_seeded", gate.replay_seeded);
  v.group("task", [&](auto& g) {
    g("name", report.task_name)("hash", report.task_hash)("notes", report.task_notes);
  });
  v("cross_check", report.cross_check);
  v("stages", json_list(gate.stages, [](auto& row, const gate::StageReport& stage) {
      row("stage", record::stage_name(stage.stage))("outcome", stage.outcome);
      row("lines", stage.lines)("seconds", stage.seconds);
    }));
  v("cell_list", json_list(gate.cells, [](auto& row, const gate::CellReport& cell) {
      row("stage", record::stage_name(cell.stage))("cell", cell.cell)("why", cell.why);
      row("right", cell.right)("seconds", cell.seconds)("error", cell.summary);
    }));
  v("launch_groups", json_list(gate.groups, [](auto& row, const gate::GroupReport& group) {
      row("line", group.line)("when", group.when)("state", group.state)("why", group.why);
      row("needs", group.needs)("cells", group.cells);
    }));
  v("skipped", gate.skipped)("lint", gate.lint)("warnings", gate.warnings);
  v("kill_rate", report.imposters)("seconds", gate.seconds);
  v("prepare_seconds", gate.prepare_seconds)("truths_by", report.truths_by);
  return v("constants", ports::bound_constants()).take();
}

}  // namespace kw::verification
