#include <fmt/core.h>

#include "binding/load.h"
#include "commands/command.h"
#include "commands/values.h"
#include "core/text.h"
#include "evidence/sass_report.h"
#include "machine/devices.h"
#include "profile/sass_text.h"

namespace kw::commands {
namespace {

Result<evidence::SassReport> sass(const Args& args, Io& io) {
  evidence::SassRequest request;
  request.bindings = KW_TRY(binding_options(args));
  request.target = args.one("--target");
  request.function = args.one("--function");
  request.method = args.one("--method");
  request.timeout_seconds = args.number("--timeout");
  const kernel::Module module = KW_TRY(binding::load_module(args.positionals.front()));
  KW_TRY(check_tunes(module.text, request.bindings.tunes));
  std::optional<kernel::Module> other;
  if (const std::string path = args.one("--against"); !path.empty()) {
    other = KW_TRY(binding::load_module(path));
    request.against = &*other;
  }
  const auto compiler = KW_TRY(machine::open_compiler(args.one("--compiler")));
  return evidence::show_sass(module, request, *compiler,
                             [&io](const std::string& what) { io.progress(what); });
}

std::string kernel_text(const evidence::SassKernel& kernel, bool raw, const report::Style& style) {
  std::string text = paint(style, report::Paint::Strong, kernel.name) + "\n" +
                     profile::facts_text(profile::sass_facts(kernel.code), "  ");
  if (!raw) return text;
  for (const profile::SassInstruction& instruction : kernel.code.code) {
    const int depth = kernel.code.depth(instruction.address);
    text += fmt::format("  {:>6x}  {}{}\n", instruction.address,
                        std::string(2 * static_cast<size_t>(depth), ' '), instruction.text());
  }
  return text;
}

std::string sass_text(const evidence::SassReport& report, bool raw, const report::Style& style) {
  std::string text =
      fmt::format("{} for {} by {}\n\n", report.module, report.target, report.compiler);
  for (const evidence::SassKernel& kernel : report.kernels) text += kernel_text(kernel, raw, style);
  if (!report.other.empty()) {
    const auto changes = profile::fact_changes(report.other_facts(), report.facts());
    text += fmt::format("\nagainst {}{}\n", report.other,
                        changes.empty() ? ": every count is the same" : "");
    for (const std::string& change : changes) text += "  " + change + "\n";
  }
  if (report.verdict) text += "\n" + profile::verdict_text(report.method, *report.verdict);
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace

Result<int> sass_command(const Args& args, Io& io) {
  const evidence::SassReport report = KW_TRY(sass(args, io));
  const bool raw = args.has("--raw");
  io.print(sass_text(report, raw, io.style()));
  return io.finish(kOk, to_json(report, raw));
}

}  // namespace kw::commands
