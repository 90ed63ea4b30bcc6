// Several commands show these reports, so this file alone defines their JSON. An unknown number is
// null: -1 is a sentinel of our structs and must not reach a reader. Keys may be added but are
// never renamed or removed, because scripts depend on them.
#include "single_run/json.h"

#include "core/json_writer.h"
#include "machine/devices.h"

namespace kw::ports {

void fields(auto& v, CompileMessage& m) {
  constexpr const char* kSeverities[] = {"error", "warning", "note"};
  v("severity", m.severity, kSeverities)("line", m.line)("column", m.column)("text", m.text);
}

void fields(auto& v, KernelResources& r) {
  const auto number = [&v](const char* key, int64_t value) { v(key, value, negative_is_null); };
  number("registers", r.registers);
  number("static_shared", r.static_shared);
  number("local_bytes", r.local_bytes);
  number("stack_bytes", r.stack_bytes);
  number("spill_store_bytes", r.spill_store_bytes);
  number("spill_load_bytes", r.spill_load_bytes);
  number("constant_bytes", r.constant_bytes);
  number("max_threads", r.max_threads);
}

void fields(auto& v, CompileFailed& f) {
  v("ok", false)("compiler", f.compiler)("messages", f.messages)("log", f.log);
  v("timed_out", f.timed_out)("crashed", f.crashed);
}

void fields(auto& v, CompiledKernel& k) {
  v("expression", k.expression)("entry", k.entry)("signature", k.signature);
  v("resources", k.resources);
}

void fields(auto& v, Compiled& c) {
  v("ok", true)("compiler", c.compiler)("target", c.target)("seconds", c.seconds);
  v("from_cache", c.from_cache)("messages", c.messages)("kernels", c.kernels);
}

}  // namespace kw::ports

namespace kw::single_run {

namespace {

Json module_json(const kernel::Module& module) {
  return Json::object().set("file", module.file_name).set("task", module.task);
}

Json dim_json(const kernel::Dim3& d) { return Json(Json::Array{Json(d.x), Json(d.y), Json(d.z)}); }

}  // namespace

void fields(auto& v, LaunchCheck& l) {
  v("kernel", l.kernel)("grid", dim_json(l.grid))("block", dim_json(l.block));
  v("dynamic_shared", l.dynamic_shared)("resources", l.resources);
  v("blocks_per_sm", l.blocks_per_sm, negative_is_null);
  v("occupancy", l.occupancy, negative_is_null);
}

void fields(auto& v, VariantCheck& c) {
  v("ok", c.ok())("group", c.group)("tunes", c.tunes)("dims", c.dims)("failed", c.failed);
  v("warnings", c.warnings)("plan_error", c.plan_error)("virtual_gpu", c.virtual_gpu);
  v("launches", c.launches);
}

void fields(auto& v, GroupCheck& g) { v("guard", g.guard)("line", g.line)("example", g.example); }

Json to_json(const RunReport& report, const kernel::Module& module) {
  const auto& tunes = report.selection.defines;
  JsonWriter v;
  v("module", module_json(module))("device", machine::to_json(report.device));
  v("notes", report.notes)("dims", report.bindings.dims)("group", report.selection.group);
  v("tunes", std::map<std::string, int64_t>(tunes.begin(), tunes.end()));
  if (report.compile_failed) return v("compile", report.compile_failed).take();
  v("compile", report.compiled, Zero::Omit);
  if (const auto& outcome = report.outcome) {
    v("status", ports::run_status_name(outcome->status))("message", outcome->message);
    v("findings", outcome->findings)("printed", outcome->printed)("seconds", outcome->seconds);
  }
  v("outputs", report.outputs)("counters", report.counters)("timing", report.timing);
  return v("timing_problem", report.timing_problem, Zero::Omit).take();
}

Json to_json(const CheckReport& report, const kernel::Module& module) {
  JsonWriter v;
  v("module", module_json(module))("target", report.target)("compiler", report.compiler);
  v("notes", report.notes)("resources_note", report.resources_note)("dims", report.dims);
  v("groups", report.groups)("assignments", report.assignments);
  return v("assignments_cut", report.assignments_cut)("variants", report.variants).take();
}

}  // namespace kw::single_run
