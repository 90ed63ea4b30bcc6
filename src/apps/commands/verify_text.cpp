#include "commands/verify_text.h"

#include <fmt/core.h>

#include "commands/run_text.h"
#include "core/text.h"
#include "ports/bound.h"
#include "report/verdict.h"

namespace kw::commands {

namespace {

using report::Paint;
using report::Style;
using report::Table;

constexpr size_t kShown = 6;  // of a list, without --explain

std::string verify_row(const char* title, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<15} {}\n", title, text);
}

std::string list_rows(const char* title, const std::vector<std::string>& lines, bool all) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!all && i == kShown) {
      text += verify_row("", fmt::format("… and {} more (--explain)", lines.size() - i));
      break;
    }
    text += verify_row(i == 0 ? title : "", printable(lines[i]));
  }
  return text;
}

std::string stages_text(const verification::VerifyReport& report, const Style& style) {
  std::string text = "\n" + report::paint(style, Paint::Strong, "what each stage did") + "\n";
  for (const gate::StageReport& stage : report.gate.stages) {
    text += fmt::format("  {:<12} {:<9} {:.2f} s\n", record::stage_name(stage.stage), stage.outcome,
                        stage.seconds);
    for (const std::string& line : stage.lines) text += "    " + printable(line) + "\n";
  }
  return text;
}

std::string cells_text(const verification::VerifyReport& report, const Style& style) {
  if (report.gate.cells.empty()) return "";
  Table table(
      {"shape", "family", "why this shape", ">max z", ">rms z", ">ulps", ">elements", ">ms", ""});
  for (const gate::CellReport& cell : report.gate.cells) {
    const std::string seed =
        report.gate.replay_seeded ? fmt::format(" (seed {})", cell.cell.seed) : "";
    table.add({cell.cell.shape, cell.cell.family + seed, cell.why,
               report::short_number(cell.summary.max_z), report::short_number(cell.summary.rms_z),
               report::short_number(cell.summary.max_ulps),
               report::with_commas(static_cast<uint64_t>(cell.summary.elements)),
               fmt::format("{:.1f}", cell.seconds * 1e3), cell.right ? "right" : "WRONG"});
  }
  return "\n" + report::paint(style, Paint::Strong, "cells") + "\n" + table.text(style);
}

std::string imposters_text(const gate::KillReport& report, const Style& style) {
  Table table({"imposter", ">stopped in", "first at, or why not"});
  for (const gate::ImposterRow& row : report.rows) {
    const bool applies = row.inapplicable.empty();
    table.add({row.name, applies ? fmt::format("{} of {}", row.killed, row.tried) : "-",
               !applies         ? "does not apply: " + row.inapplicable
               : row.equivalent ? "equivalent here: the same on paper, and within the bound"
               : row.survived() ? "SURVIVED every cell"
                                : row.killed_at});
  }
  const std::string heading =
      fmt::format("imposters: {} of {} that apply are stopped, over {} cells", report.killed(),
                  report.applicable(), report.cells);
  return "\n" + report::paint(style, report.complete() ? Paint::Strong : Paint::Error, heading) +
         "\n" + table.text(style);
}

std::string constants_text() {
  const ports::BoundConstants& k = ports::bound_constants();
  return fmt::format(
      "B = {:g} a + h + jump + u|t| + eta; sums {:g} sqrt(n) + {:g} or in turn to {:g}, halves "
      "{:g}; max z {:g}, rms z {:g}, {:g} times plain fp32, share {:g} %",
      k.path_factor, k.sum_root, k.sum_plus, k.sum_chain, k.half_sum, k.max_z, k.rms_z,
      k.plain_factor, k.max_share * 100);
}

std::string seeds_text(const gate::GateReport& gate) {
  return gate.replay_seeded ? "replay-seeded by --seed: not certified"
                            : "fresh, from the system's entropy";
}

}  // namespace

std::string verify_text(const verification::VerifyReport& report, bool explain,
                        const Style& style) {
  const gate::GateReport& gate = report.gate;
  std::string text = fmt::format("{} against {}", report.module_name, report.task_name);
  if (!gate.device.empty()) text += fmt::format(" on {}", gate.device);
  if (!gate.compiler.empty()) text += fmt::format(", {}", gate.compiler);
  if (report.trust != "module") text += fmt::format("; trust: {}", report.trust);
  text += "\n";
  report::FindingContext context{nullptr, report.module_name, report.module_text};
  text += report::verdict_text(gate.verdict, context, style);
  if (gate.compile_failed) {
    kernel::Module module;
    module.file_name = report.module_name;
    module.text = report.module_text;
    text += compile_failure_text(*gate.compile_failed, module, style);
  }
  if (!report.recorded.empty())
    text += list_rows("certifies", {"the recorded launches, not the file: " + report.recorded},
                      explain);
  text += list_rows("task", report.task_notes, explain);
  if (report.cross_check) text += list_rows("cross-check", {report.cross_check->text()}, explain);
  text += list_rows("task lint", gate.lint, explain);
  text += list_rows("compiler", report.compiler_notes, explain);
  text += list_rows("not run", gate.skipped, explain);
  std::vector<std::string> warnings;
  for (const record::Finding& warning : gate.warnings)
    warnings.push_back(fmt::format("{}: {}", record::finding_name(warning.kind), warning.message));
  text += list_rows("warnings", warnings, explain);
  text += verify_row("seeds", seeds_text(gate));
  text += verify_row("times", fmt::format("preparation {:.2f} s, gate {:.2f} s",
                                          gate.prepare_seconds, gate.seconds));
  if (!report.truths_by.empty() && report.truths_by != "CPU")
    text += verify_row("truths", report.truths_by);
  text += verify_row("bound", constants_text());
  if (report.imposters) text += imposters_text(*report.imposters, style);
  if (explain) text += stages_text(report, style) + cells_text(report, style);
  return text;
}

}  // namespace kw::commands
