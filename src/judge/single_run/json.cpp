// Several commands show these reports, so this file alone defines their JSON. An unknown number is
// null: -1 is a sentinel of our structs and must not reach a reader. Keys may be added but are
// never renamed or removed, because scripts depend on them. Generating the JSON from the structs
// was the alternative; then renaming a member would change the schema. The cost: each new member
// needs a line here.
#include "single_run/json.h"

#include "core/json_writer.h"
#include "machine/devices.h"

namespace kw::single_run {

namespace {

Json module_json(const kernel::Module& module) {
  return Json::object().set("file", module.file_name).set("task", module.task);
}

Json dim_json(const kernel::Dim3& d) { return Json(Json::Array{Json(d.x), Json(d.y), Json(d.z)}); }

Json number_or_null(int64_t value) { return value < 0 ? Json() : Json(value); }

Json message_json(const ports::CompileMessage& message) {
  constexpr const char* kSeverities[] = {"error", "warning", "note"};
  Json json = Json::object();
  json.set("severity", kSeverities[static_cast<int>(message.severity)]).set("line", message.line);
  return json.set("column", message.column).set("text", message.text);
}

Json messages_json(const std::vector<ports::CompileMessage>& messages) {
  Json json = Json::array();
  for (const ports::CompileMessage& message : messages) json.push(message_json(message));
  return json;
}

Json resources_json(const ports::KernelResources& r) {
  Json json = Json::object();
  json.set("registers", number_or_null(r.registers))
      .set("static_shared", number_or_null(r.static_shared));
  json.set("local_bytes", number_or_null(r.local_bytes))
      .set("stack_bytes", number_or_null(r.stack_bytes));
  json.set("spill_store_bytes", number_or_null(r.spill_store_bytes));
  json.set("spill_load_bytes", number_or_null(r.spill_load_bytes));
  json.set("constant_bytes", number_or_null(r.constant_bytes))
      .set("max_threads", number_or_null(r.max_threads));
  return json;
}

Json failed_json(const ports::CompileFailed& failed) {
  Json json = Json::object();
  json.set("ok", false)
      .set("compiler", failed.compiler)
      .set("messages", messages_json(failed.messages));
  return json.set("log", failed.log)
      .set("timed_out", failed.timed_out)
      .set("crashed", failed.crashed);
}

Json compiled_json(const ports::Compiled& compiled) {
  Json kernels = Json::array();
  for (const ports::CompiledKernel& kernel : compiled.kernels) {
    Json json = Json::object();
    json.set("expression", kernel.expression)
        .set("entry", kernel.entry)
        .set("signature", kernel.signature);
    kernels.push(json.set("resources", resources_json(kernel.resources)));
  }
  Json json = Json::object();
  json.set("ok", true).set("compiler", compiled.compiler).set("target", compiled.target);
  json.set("seconds", compiled.seconds).set("from_cache", compiled.from_cache);
  return json.set("messages", messages_json(compiled.messages)).set("kernels", kernels);
}

Json launch_json(const LaunchCheck& launch) {
  Json json = Json::object();
  json.set("kernel", launch.kernel)
      .set("grid", dim_json(launch.grid))
      .set("block", dim_json(launch.block));
  json.set("dynamic_shared", launch.dynamic_shared)
      .set("resources", resources_json(launch.resources));
  json.set("blocks_per_sm", number_or_null(launch.blocks_per_sm));
  return json.set("occupancy", launch.occupancy < 0 ? Json() : Json(launch.occupancy));
}

Json variant_json(const VariantCheck& variant) {
  Json launches = Json::array();
  for (const LaunchCheck& launch : variant.launches) launches.push(launch_json(launch));
  Json json = Json::object();
  json.set("ok", variant.ok()).set("group", variant.group).set("tunes", json_of(variant.tunes));
  json.set("dims", json_of(variant.dims))
      .set("failed", variant.failed ? failed_json(*variant.failed) : Json());
  json.set("warnings", messages_json(variant.warnings)).set("plan_error", variant.plan_error);
  return json.set("virtual_gpu", variant.virtual_gpu).set("launches", launches);
}

void set_outcome(const ports::RunOutcome& outcome, Json* json) {
  json->set("status", ports::run_status_name(outcome.status)).set("message", outcome.message);
  json->set("findings", json_of(outcome.findings))
      .set("printed", outcome.printed)
      .set("seconds", outcome.seconds);
}

}  // namespace

Json texts(const std::vector<std::string>& list) { return json_of(list); }

Json to_json(const RunReport& report, const kernel::Module& module) {
  Json json = Json::object();
  json.set("module", module_json(module)).set("device", machine::to_json(report.device));
  json.set("notes", json_of(report.notes));
  json.set("dims", json_of(report.bindings.dims)).set("group", report.selection.group);
  json.set("tunes", json_of(std::map<std::string, int64_t>(report.selection.defines.begin(),
                                                           report.selection.defines.end())));
  if (report.compile_failed) return json.set("compile", failed_json(*report.compile_failed));
  if (report.compiled) json.set("compile", compiled_json(*report.compiled));
  if (report.outcome) set_outcome(*report.outcome, &json);
  Json outputs = Json::array(), counters = Json::array();
  for (const binding::TensorSummary& output : report.outputs) outputs.push(to_json(output));
  for (const record::LaunchCounters& launch : report.counters)
    counters.push(record::to_json(launch));
  json.set("outputs", outputs).set("counters", counters);
  json.set("timing", json_of(report.timing));
  if (!report.timing_problem.empty()) json.set("timing_problem", report.timing_problem);
  return json;
}

Json to_json(const CheckReport& report, const kernel::Module& module) {
  Json json = Json::object();
  json.set("module", module_json(module))
      .set("target", report.target)
      .set("compiler", report.compiler);
  json.set("notes", json_of(report.notes)).set("resources_note", report.resources_note);
  Json dims = Json::array(), groups = Json::array(), variants = Json::array();
  for (const std::string& dim : report.dims) dims.push(dim);
  for (const GroupCheck& group : report.groups) {
    Json row = Json::object();
    row.set("guard", group.guard).set("line", group.line);
    groups.push(row.set("example", json_of(group.example)));
  }
  for (const VariantCheck& variant : report.variants) variants.push(variant_json(variant));
  json.set("dims", dims)
      .set("groups", groups)
      .set("assignments", static_cast<int64_t>(report.assignments));
  return json.set("assignments_cut", report.assignments_cut).set("variants", variants);
}

}  // namespace kw::single_run
