#include <fmt/core.h>

#include "commands/command.h"
#include "commands/doctor.h"
#include "core/text.h"

namespace kw::commands {

namespace {

using machine::Tool;
using machine::ToolState;

std::string state_text(const Tool& tool, const report::Style& style) {
  switch (tool.state) {
    case ToolState::Found:
      return report::paint(style, report::Paint::Good, "yes");
    case ToolState::Limited:
      return report::paint(style, report::Paint::Warning, "part");
    case ToolState::Missing:
      return report::paint(style, report::Paint::Warning, "no ");
  }
  return "";
}

// The whole note is in the JSON; a table needs one line.
std::string short_note(const std::string& note) {
  constexpr size_t kWidest = 90;
  return note.size() <= kWidest ? note : note.substr(0, kWidest) + "…";
}

std::string tool_text(const Tool& tool, const report::Style& style) {
  std::string out = fmt::format("  {}{} {:<18} ", state_text(tool, style),
                                tool.state == ToolState::Limited ? "" : " ", tool.title);
  if (tool.state != ToolState::Missing)
    out += tool.version + (tool.version.empty() ? "" : "  ") + tool.path;
  if (!tool.note.empty())
    out += (tool.state == ToolState::Missing ? "" : "  ") + short_note(tool.note);
  out = out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  if (tool.state == ToolState::Found) return out;
  const std::string indent(26, ' ');
  return out + indent + "costs: " + tool.cost + "\n" + indent + "get:   " + tool.remedy + "\n";
}

std::string models_text(const DoctorReport& report, const report::Style& style) {
  std::vector<std::string> keys;
  for (const ModelProvider& model : report.models) {
    if (model.has_key) keys.push_back(model.name + " (" + model.note + ")");
  }
  std::string out = "language models (optional): ";
  if (keys.empty()) {
    out +=
        "no provider has a key; ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or "
        "providers.toml give one\n";
  } else {
    out += join(keys, ", ") + "\n";
  }
  if (!report.models_problem.empty())
    out += "  " + report::paint(style, report::Paint::Warning, report.models_problem) + "\n";
  return out + "\n";
}

std::string report_text(const DoctorReport& report, bool looked, const report::Style& style) {
  std::string out = fmt::format("{}, {} cores, {} of memory free\n", report.kernel, report.cores,
                                human_bytes(report.memory_bytes));
  out += "cache: " + report.cache_folder + "\n\n";
  for (const Tool& tool : report.tools) out += tool_text(tool, style);
  out += "\n" + models_text(report, style);
  if (looked) {
    out += "searched:\n";
    for (const std::string& place : report.looked_at) out += "  " + place + "\n";
    out += "\n";
  }
  const std::string device = report.gpu ? report.gpu->name : "the virtual GPU";
  if (report.compiler.empty()) {
    out +=
        report::paint(style, report::Paint::Error, "not ready") + ": no compiler for device code\n";
  } else {
    out += report::paint(style, report::Paint::Good, "ready") + ": kernels are compiled by " +
           report.compiler + " and run on " + device + "\n";
  }
  return out;
}

Result<int> has_tool(const std::string& name, Io& io) {
  const auto tool = machine::examine_one(name);
  if (!tool) {
    return input_error("--has: unknown tool '{}'{}; known tools: {}", name,
                       did_you_mean(name, machine::tool_names()),
                       join(machine::tool_names(), ", "));
  }
  const bool there = tool->state != ToolState::Missing;
  io.print(fmt::format("{}: {}\n", name, there ? tool->version + " " + tool->path : "missing"));
  Json json = Json::object();
  json.set("name", name).set("state", machine::tool_state_name(tool->state));
  json.set("version", tool->version).set("path", tool->path).set("note", tool->note);
  return io.finish(there ? kOk : kCandidateFailed, json);
}

}  // namespace

Result<int> doctor_command(const Args& args, Io& io) {
  if (!args.all("--has").empty()) return has_tool(args.one("--has"), io);
  io.progress("looking");
  const DoctorReport report = examine();
  io.print(report_text(report, args.has("--looked") || report.compiler.empty(), io.style()));
  return io.finish(report.compiler.empty() ? kEnvironment : kOk, to_json(report));
}

}  // namespace kw::commands
