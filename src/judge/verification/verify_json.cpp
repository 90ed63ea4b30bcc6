#include "core/json_writer.h"
#include "ports/bound.h"
#include "single_run/json.h"
#include "verification/verify.h"

namespace kw::verification {

namespace {

Json stages_json(const std::vector<gate::StageReport>& stages) {
  Json json = Json::array();
  for (const gate::StageReport& stage : stages) {
    Json row = Json::object();
    row.set("stage", record::stage_name(stage.stage)).set("outcome", stage.outcome);
    json.push(row.set("lines", single_run::texts(stage.lines)).set("seconds", stage.seconds));
  }
  return json;
}

Json cells_json(const std::vector<gate::CellReport>& cells) {
  Json json = Json::array();
  for (const gate::CellReport& cell : cells) {
    Json row = Json::object();
    row.set("stage", record::stage_name(cell.stage)).set("cell", record::to_json(cell.cell));
    row.set("why", cell.why).set("right", cell.right).set("seconds", cell.seconds);
    json.push(row.set("error", record::to_json(cell.summary)));
  }
  return json;
}

}  // namespace

Json to_json(const VerifyReport& report) {
  const gate::GateReport& gate = report.gate;
  Json json = record::to_json(gate.verdict);
  json.set("module", report.module_name).set("trust", report.trust).set("device", gate.device);
  json.set("compiler", gate.compiler).set("replay_seeded", gate.replay_seeded);
  json.set("task", Json::object()
                       .set("name", report.task_name)
                       .set("hash", report.task_hash)
                       .set("notes", single_run::texts(report.task_notes)));
  json.set("cross_check", json_of(report.cross_check));
  json.set("stages", stages_json(gate.stages)).set("cell_list", cells_json(gate.cells));
  json.set("skipped", single_run::texts(gate.skipped)).set("lint", single_run::texts(gate.lint));
  json.set("warnings", json_of(gate.warnings));
  json.set("kill_rate", json_of(report.imposters));
  json.set("seconds", gate.seconds).set("prepare_seconds", gate.prepare_seconds);
  json.set("truths_by", report.truths_by);
  return json.set("constants", ports::to_json(ports::bound_constants()));
}

}  // namespace kw::verification
