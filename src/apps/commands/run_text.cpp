// Reports of run and check as text. A user must find the mistake quickly, so a compile message is
// shown with its line of source and a caret. Findings name kernel, line and thread, and numbers are
// in tables. Text from compilers, kernels and modules passes printable(), because it may contain
// control codes.
// Printing the compiler's log would be simpler, but it names our temporary lines; the log is shown
// only if no message was found in it, and then its last 40 lines. Long lists are cut and say so.
// Functions are pure.
#include "commands/run_text.h"

#include <fmt/core.h>

#include "core/text.h"
#include "report/counters_text.h"
#include "report/excerpt.h"
#include "report/findings.h"
#include "tensor/npy.h"

namespace kw::commands {

namespace {

using ports::CompileMessage;
using report::Paint;
using report::Style;
using report::Table;

constexpr size_t kMessages = 12;
constexpr size_t kLogLines = 40;

std::string seconds_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.2f} s", seconds);
}

std::string message_text(const CompileMessage& message, const kernel::Module& module,
                         const Style& style) {
  constexpr const char* kNames[] = {"error", "warning", "note"};
  const Paint paint =
      message.severity == CompileMessage::Severity::Error ? Paint::Error : Paint::Warning;
  std::string out = report::paint(style, paint, kNames[static_cast<int>(message.severity)]) + ": " +
                    report::paint(style, Paint::Strong, printable(message.text)) + "\n";
  if (message.line <= 0) return out;
  out += "  " + report::location(module.file_name, message.line, message.column) + "\n";
  return out + report::excerpt(module.text, {{message.line, message.column, "", paint}}, style);
}

std::string log_tail(const std::string& log) {
  const std::vector<std::string_view> lines = split_lines(log);
  std::string out;
  for (size_t i = lines.size() > kLogLines ? lines.size() - kLogLines : 0; i < lines.size(); ++i) {
    out += "  " + printable(lines[i]) + "\n";
  }
  return out;
}

std::string outputs_text(const single_run::RunReport& report, const Style& style) {
  if (report.outputs.empty()) return "";
  Table table({"output", "dtype", "shape", ">min", ">max", ">mean", ">nan", ">inf"});
  for (const binding::TensorSummary& o : report.outputs) {
    const auto number = [&](double value) {
      return o.finite > 0 ? report::short_number(value) : "-";
    };
    table.add({o.name, tensor::dtype_name(o.dtype), tensor::shape_text(o.shape), number(o.min),
               number(o.max), number(o.mean), std::to_string(o.nans),
               std::to_string(o.infinities)});
  }
  return table.text(style);
}

std::string guard_text(const kernel::Module& module, int group) {
  const auto& when = module.groups[static_cast<size_t>(group)].when;
  return when ? when->text : "always";
}

std::string status_text(const ports::RunOutcome& outcome, const Style& style) {
  if (outcome.status == ports::RunStatus::Completed) return "";
  const std::string word =
      report::paint(style, Paint::Error, ports::run_status_name(outcome.status));
  // The findings below give the same message, with its place.
  const bool told =
      !outcome.findings.empty() && outcome.findings.front().message == outcome.message;
  return word + (told || outcome.message.empty() ? "" : ": " + printable(outcome.message)) + "\n";
}

std::string ran_text(const single_run::RunReport& report) {
  if (report.outcome->status == ports::RunStatus::Refused) return "";
  const size_t launches = report.program.launches.size();
  std::string out =
      fmt::format("ran {} launch{} on {}", launches, launches == 1 ? "" : "es", report.device.name);
  if (report.device.is_virtual) {
    out +=
        " with all checks, in " + seconds_text(report.outcome->seconds) + " of this machine's time";
  }
  return out + "\n";
}

std::string printed_text(const std::string& printed) {
  if (printed.empty()) return "";
  std::string out = "printed by the kernels:\n";
  for (const std::string_view line : split_lines(printed)) out += "  | " + printable(line) + "\n";
  return out;
}

std::string timing_text(const single_run::RunReport& report, const Style& style) {
  if (!report.timing_problem.empty()) return "not timed: " + report.timing_problem + "\n";
  if (!report.timing) return "";
  const clock::Summary& s = report.timing->summary;
  return report::paint(style, Paint::Strong, fmt::format("{:.2f} µs", s.median)) +
         fmt::format(
             " on {} (median of {} by {}, 95 % sure of {:.2f} to {:.2f}; min {:.2f}, p95 {:.2f})\n",
             report.device.name, s.count, report.timing->samples.method, s.low, s.high, s.min,
             s.p95);
}

std::string resource(int64_t value) { return value < 0 ? "-" : std::to_string(value); }

std::string dim3_text(const kernel::Dim3& d) {
  if (d.z > 1) return fmt::format("{}x{}x{}", d.x, d.y, d.z);
  return d.y > 1 ? fmt::format("{}x{}", d.x, d.y) : std::to_string(d.x);
}

void add_launches(const single_run::VariantCheck& variant, Table* table) {
  for (const single_run::LaunchCheck& launch : variant.launches) {
    const ports::KernelResources& r = launch.resources;
    const bool spills = r.spill_store_bytes >= 0 || r.spill_load_bytes >= 0;
    table->add({std::to_string(variant.group + 1), launch.kernel, dim3_text(launch.grid),
                dim3_text(launch.block), resource(r.registers), resource(r.static_shared),
                std::to_string(launch.dynamic_shared),
                spills ? fmt::format("{}/{}", r.spill_store_bytes, r.spill_load_bytes) : "-",
                resource(r.stack_bytes),
                launch.occupancy < 0 ? "-" : report::percent(launch.occupancy, 1)});
  }
}

std::string groups_text(const single_run::CheckReport& report) {
  std::string out = "domain\n";
  for (size_t i = 0; i < report.groups.size(); ++i) {
    const single_run::GroupCheck& group = report.groups[i];
    out += fmt::format("  group {}  line {}  when {}", i + 1, group.line,
                       group.guard.empty() ? "true" : group.guard);
    out += group.example
               ? "   e.g. " + task::dims_text(*group.example)
               : std::string("   not reached by any shape tried; fix dims with --dim to reach it");
    out += "\n";
  }
  return out;
}

std::string problems_text(const single_run::VariantCheck& variant, const kernel::Module& module,
                          const Style& style) {
  std::string out;
  const std::string where =
      fmt::format("group {}{}{}", variant.group + 1, variant.tunes.empty() ? "" : ", ",
                  task::dims_text(variant.tunes));
  if (variant.failed) {
    out += report::paint(style, Paint::Error, "does not compile") + " (" + where + ")\n" +
           compile_failure_text(*variant.failed, module, style);
  }
  if (!variant.plan_error.empty()) {
    out += report::paint(style, Paint::Error, "launch plan") + " (" + where +
           "): " + variant.plan_error + "\n";
  }
  for (const CompileMessage& warning : variant.warnings)
    out += message_text(warning, module, style);
  if (!variant.virtual_gpu.empty()) {
    out += report::paint(style, Paint::Warning, "not on the virtual GPU") + " (" + where +
           "): " + variant.virtual_gpu + "\n";
  }
  return out;
}

}  // namespace

std::string compile_failure_text(const ports::CompileFailed& failed, const kernel::Module& module,
                                 const Style& style) {
  std::string out;
  if (failed.messages.empty() && failed.timed_out)
    out += failed.compiler + " did not finish in time (--timeout)\n";
  if (failed.messages.empty() && failed.crashed)
    out += failed.compiler + " crashed on this source\n";
  for (size_t i = 0; i < std::min(kMessages, failed.messages.size()); ++i) {
    out += message_text(failed.messages[i], module, style);
  }
  if (failed.messages.size() > kMessages)
    out += fmt::format("… and {} more\n", failed.messages.size() - kMessages);
  return failed.messages.empty() ? out + log_tail(failed.log) : out;
}

std::string run_text(const single_run::RunReport& report, const kernel::Module& module,
                     const Style& style) {
  std::string out = report::paint(style, Paint::Strong, module.file_name) + "  " +
                    task::dims_text(report.bindings.dims);
  out += fmt::format("  when {}", guard_text(module, report.selection.group));
  const std::map<std::string, int64_t> tunes(report.selection.defines.begin(),
                                             report.selection.defines.end());
  out += (tunes.empty() ? "" : "  with " + task::dims_text(tunes)) + "\n";
  if (report.compile_failed) {
    return out + report::paint(style, Paint::Error, "does not compile") + " with " +
           report.compile_failed->compiler + "\n" +
           compile_failure_text(*report.compile_failed, module, style);
  }
  out += fmt::format("compiled for {} by {} in {}{}\n", report.compiled->target,
                     report.compiled->compiler, seconds_text(report.compiled->seconds),
                     report.compiled->from_cache ? " (from the cache)" : "");
  out += ran_text(report) + status_text(*report.outcome, style);
  out += outputs_text(report, style) + printed_text(report.outcome->printed);
  const report::FindingContext context{&report.program, module.file_name, module.text};
  const std::string findings = report::findings_text(report.outcome->findings, context, style);
  if (!findings.empty()) {
    out += "\n" + findings;
  } else if (report.passed() && report.device.is_virtual) {
    out += report::paint(style, Paint::Good, "no findings") + "\n";
  }
  out += report::counters_text(report.counters, module.file_name, module.text, style);
  return out + timing_text(report, style);
}

std::string check_text(const single_run::CheckReport& report, const kernel::Module& module,
                       const Style& style) {
  std::string out = report::paint(style, Paint::Strong, module.file_name) + "  task " +
                    module.task + "  dims " + join(report.dims, " ") + "\n" + groups_text(report);
  std::string problems;
  Table table({">group", "kernel", ">grid", ">block", ">regs", ">shared", ">dynamic",
               ">spill st/ld", ">stack", ">occupancy"});
  for (const single_run::VariantCheck& variant : report.variants) {
    add_launches(variant, &table);
    problems += problems_text(variant, module, style);
  }
  out += fmt::format("resources on {} by {}\n", report.target, report.compiler);
  if (!table.empty()) out += table.text(style);
  if (!report.resources_note.empty())
    out += "  registers and spills are not known: " + report.resources_note + "\n";
  if (report.assignments_cut) {
    out += fmt::format("  only the first {} assignments of the tunables; --limit raises this\n",
                       report.assignments);
  }
  if (!problems.empty()) return out + "\n" + problems;
  return out + report::paint(style, Paint::Good, "ok") +
         fmt::format(": {} variant{} compile{}\n", report.variants.size(),
                     report.variants.size() == 1 ? "" : "s",
                     report.variants.size() == 1 ? "s" : "");
}

}  // namespace kw::commands
