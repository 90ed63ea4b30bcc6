#include "commands/synthesize_text.h"

#include <fmt/core.h>

#include "core/text.h"

namespace kw::commands {

namespace {

constexpr size_t kLineWidth = 110;

std::string row(const char* name, const std::string& text) {
  return fmt::format("  {:<10} {}\n", name, text);
}

std::string right_text(const workflows::SynthesisReport& report) {
  const char* how = report.certified ? "certified: fresh inputs from the system's entropy"
                    : !report.fresh
                        ? "a replay or a quick run, so not certified"
                        : "fresh inputs; the judgement is not complete, so not certified";
  return fmt::format("{} cells on {}, worst error {:.2f} of its bound; {}", report.cells,
                     report.device, report.max_z, how);
}

/// Which bits repeat: "deterministic, batch-invariant along B"; "" when nothing was checked.
std::string bits_text(const workflows::SynthesisReport& report) {
  std::string text;
  if (report.deterministic) text = *report.deterministic ? "deterministic" : "not deterministic";
  if (report.batch.holds)
    text += fmt::format("{}{}batch-invariant{}{}", text.empty() ? "" : ", ",
                        *report.batch.holds ? "" : "not ",
                        *report.batch.holds ? " along " : ": ",
                        *report.batch.holds ? join(report.batch.dims, ", ") : report.batch.why);
  return text;
}

std::string fast_text(const workflows::SynthesisReport& report) {
  if (report.us <= 0) return "";
  const std::string share = report.of_floor > 0
                                ? fmt::format(", {:.0f} % of the floor ({:.2f} us)",
                                              100 * report.of_floor, report.floor_us)
                                : "";
  if (report.measured) return fmt::format("{:.2f} us at {}{}", report.us, report.dims, share);
  return fmt::format("not measured (no GPU); estimated for an H200: {:.2f} us at {}{}", report.us,
                     report.dims, share);
}

std::string baseline_text(const workflows::BaselineLine& line) {
  if (line.speedup <= 0)
    return line.problem.empty() ? line.name + ": not compared"
                                : workflows::baseline_problem(line.name, line.problem);
  return fmt::format("{}: {:.2f} us, {:.2f} times as fast ({})", line.name, line.us, line.speedup,
                     line.relation);
}

std::string tunes_text(const workflows::SynthesisReport& report) {
  std::string out;
  for (const auto& [name, value] : report.tunes) out += fmt::format(" {}={}", name, value);
  return out;
}

std::string failure_text(const workflows::SynthesisReport& report, const report::Style& style) {
  std::string out =
      report::paint(style, report::Paint::Error, report.interrupted ? "INTERRUPTED" : "FAILED");
  out += fmt::format(" {}at stage {}", report.task_name.empty() ? "" : report.task_name + " ",
                     report.failed_stage);
  // An Error that no candidate caused is printed with the errors.
  out += report.error_blame ? "\n" : ": " + printable(report.failure_reason) + "\n";
  // The user can fix a full disk or a lost GPU and continue; nothing is judged twice.
  const bool machine = report.error_blame == static_cast<int>(Blame::Environment);
  if (report.interrupted || (machine && !report.folder.empty()))
    out += resume_hint(report.folder) + "\n";
  return out;
}

/// Whether a note says for which values a kernel was compiled, or what it leaves out.
bool is_limit(const std::string& note) {
  return note.starts_with("compiled for ") || note.ends_with("; this kernel does not");
}

}  // namespace

std::string progress_text(const workflows::SynthesisProgress& progress) {
  std::string out = fmt::format("[{:5.1f} s] {}", progress.seconds, progress.stage);
  if (progress.tried > 0)
    out += fmt::format(": {} tried, {} rejected", progress.tried, progress.rejected);
  if (progress.best_us > 0) {
    out += fmt::format(", best {}{:.2f} us", progress.measured ? "" : "est. ", progress.best_us);
    if (progress.of_floor > 0) out += fmt::format(" ({:.0f} % of floor)", 100 * progress.of_floor);
  }
  if (progress.eta_seconds) out += fmt::format(", at most {:.0f} s more", *progress.eta_seconds);
  // A status line that wraps cannot be rewritten.
  const std::string detail = printable(progress.detail);
  if (!detail.empty() && out.size() + detail.size() < kLineWidth) out += " — " + detail;
  return out;
}

std::string resume_hint(const std::string& folder) {
  return "judged candidates are kept; continue with: kernelwright resume " + shell_quote(folder);
}

std::string synthesis_text(const workflows::SynthesisReport& report, const report::Style& style) {
  std::string out;
  if (report.passed) {
    // As the verdict's first line, so that both say the same.
    const std::string heading = report.below.empty()
                                    ? "PASSED " + report.task_name
                                    : fmt::format("PASSED {}: {}", report.below, report.task_name);
    out += report::paint(style, report::Paint::Good, heading) + "\n";
    // What the kernel is made for belongs beside its name.
    for (const std::string& note : report.notes) {
      if (is_limit(note)) out += row("limits", printable(note));
    }
    out += row("kernel", report.kernel_path);
    out += row("design", report.design + tunes_text(report));
    out += row("right", right_text(report));
    if (const std::string bits = bits_text(report); !bits.empty()) out += row("bits", bits);
    if (const std::string fast = fast_text(report); !fast.empty()) out += row("fast", fast);
    for (const workflows::BaselineLine& line : report.baselines)
      out += row("versus", baseline_text(line));
  } else {
    out += failure_text(report, style);
  }
  if (report.tried > 0) {
    out += row("search",
               fmt::format("{} tried, {} rejected, {} kept; {}", report.tried, report.rejected,
                           report.kept, report.stopped.empty() ? "not finished" : report.stopped));
  }
  if (!report.models.empty())
    out += row("models", fmt::format("{}; cost {}", report.models, report.cost));
  for (const std::string& warning : report.warnings)
    out += row("warning", report::paint(style, report::Paint::Warning, printable(warning)));
  for (const std::string& note : report.notes) {
    if (!report.passed || !is_limit(note)) out += row("note", printable(note));
  }
  out += row("run", fmt::format("{} in {:.1f} s; all files are in {}", report.run_id,
                                report.wall_seconds, report.folder));
  if (report.passed && !report.measured)
    out += row("next", "on a machine with a GPU: kernelwright tune " + report.run_id);
  return out;
}

}  // namespace kw::commands
