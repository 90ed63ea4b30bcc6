#include "commands/doctor.h"

#include <sys/utsname.h>

#include <thread>

#include "core/json_writer.h"
#include "llm/config.h"
#include "llm/http.h"
#include "machine/devices.h"
#include "machine/probes.h"
#include "os/files.h"
#include "os/memory.h"

namespace kw::commands {

namespace {

void examine_models(DoctorReport& report) {
  const auto config = llm::load_config();
  if (!config) {
    report.models_problem = config.error().message;
    return;
  }
  for (const llm::ProviderState& state : llm::provider_states(*config))
    report.models.push_back({state.name, state.ready, state.has_key, state.note});
  if (const auto version = llm::curl_version(); !version)
    report.models_problem = version.error().message;
}

Json models_json(const DoctorReport& report) {
  Json providers = Json::object();
  for (const ModelProvider& model : report.models) {
    Json json = Json::object();
    json.set("ready", model.ready).set("has_key", model.has_key).set("note", model.note);
    providers.set(model.name, json);
  }
  Json json = Json::object();
  json.set("problem", report.models_problem).set("providers", providers);
  return json;
}

}  // namespace

const machine::Tool* DoctorReport::find(const std::string& name) const {
  for (const machine::Tool& tool : tools) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

DoctorReport examine() {
  DoctorReport report;
  machine::Examination examination;
  for (const machine::ToolRow& row : machine::tool_rows())
    report.tools.push_back(machine::examine_row(row, examination));
  if (const Result<ports::DeviceInfo>& gpu = examination.gpu(); gpu) report.gpu = *gpu;
  report.looked_at = examination.compilers().looked_at;
  if (const auto compiler = machine::open_compiler(""); compiler)
    report.compiler = (*compiler)->name();
  utsname system{};
  if (::uname(&system) == 0)
    report.kernel = std::string(system.sysname) + " " + system.release + " " + system.machine;
  report.cores = static_cast<int>(std::thread::hardware_concurrency());
  report.memory_bytes = os::available_memory();
  report.cache_folder = os::cache_directory();
  examine_models(report);
  return report;
}

Json to_json(const DoctorReport& report) {
  JsonWriter v, tools;
  v.group("host", [&](auto& g) {
    g("system", report.kernel)("cores", report.cores)("available_bytes", report.memory_bytes);
    g("cache_folder", report.cache_folder);
  });
  for (const machine::Tool& tool : report.tools) {
    tools.group(tool.name, [&](auto& g) {
      const When missing{tool.state != machine::ToolState::Found};
      g("title", tool.title)("state", machine::tool_state_name(tool.state));
      g("version", tool.version)("path", tool.path)("note", tool.note);
      g("cost", tool.cost, missing)("remedy", tool.remedy, missing);
    });
  }
  v("compiler", report.compiler, Zero::Null);
  v("gpu", report.gpu ? machine::to_json(*report.gpu) : Json())("tools", tools.take());
  return v("models", models_json(report))("looked_at", report.looked_at).take();
}

}  // namespace kw::commands
