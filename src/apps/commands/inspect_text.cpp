// Runs, candidates and differences as text. All values come from run folders, which may be damaged
// or come from another machine. So their texts pass printable() before they reach the terminal: a
// kernel's name must not send control codes. Missing values show as "-", and estimates as "~", so
// that they are never read as measured. The report as JSON has everything; here long lists are cut
// and say how many are left. Functions are pure, so tests need no run folder.
#include "commands/inspect_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/text.h"
#include "store/summary.h"

namespace kw::commands {

namespace {

using report::Paint;
using report::Style;
using report::Table;

std::string status_text(const std::string& status, const Style& style) {
  const Paint paint = status == "passed"                          ? Paint::Good
                      : status == "failed" || status == "damaged" ? Paint::Error
                                                                  : Paint::Warning;
  return report::paint(style, paint, status);
}

// "2026-11-15T09:12:44Z" -> "2026-11-15 09:12:44".
std::string time_text(const std::string& utc) {
  return utc.size() == 20 ? utc.substr(0, 10) + " " + utc.substr(11, 8) : printable(utc);
}

std::string speed_text(const store::RunRow& run) {
  if (run.best_us) return report::short_number(*run.best_us) + " us";
  return run.estimate_us ? "~" + report::short_number(*run.estimate_us) + " us" : "-";
}

std::string optional_text(const std::optional<double>& value) {
  return value ? report::short_number(*value) : "-";
}

std::string line(const char* title, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<11}{}\n", title, printable(text));
}

// The first line of a text, for tables.
std::string first_line(const std::string& text, size_t most) {
  const std::string one = printable(text.substr(0, text.find('\n')));
  return one.size() <= most ? one : one.substr(0, one.find_last_of(' ', most)) + " …";
}

std::string counts_text(const workflows::RunView& view) {
  std::vector<std::string> words;
  for (const auto& [stage, count] : view.stopped)
    words.push_back(fmt::format("{} at {}", count, stage));
  std::string text = fmt::format("{} added, {} judged, {} passed", view.run.candidates,
                                 view.run.judged, view.run.passed);
  return words.empty() ? text : text + "; stopped: " + join(words, ", ");
}

std::string sessions_text(const workflows::RunView& view) {
  std::string text = fmt::format("{} UTC, {:.1f} s", time_text(view.run.created), view.run.seconds);
  if (view.sessions > 1) text += fmt::format(" in {} sessions", view.sessions);
  if (view.crashes > 0) {
    text += fmt::format(", {} cut short ({} verdicts kept)", view.crashes, view.run.judged);
  }
  return text;
}

std::string result_text(const workflows::RunView& view) {
  const Json& performance = view.report["performance"];
  std::string text = speed_text(view.run);
  if (text == "-") return "";
  text += view.run.best_us ? ", measured" : ", estimated from the virtual GPU's counters";
  if (const Json& share = performance["of_floor"]; share.is_number()) {
    text += fmt::format(", {:.0f} % of the floor", 100 * share.as_double());
  }
  if (view.run.speedup) text += fmt::format(", {:.2f} x the reference's speed", *view.run.speedup);
  if (view.run.best_us && performance["below_target"].as_bool()) text += ", below the target";
  return text;
}

std::string correctness_text(const workflows::RunView& view) {
  const Json& correctness = view.report["correctness"];
  if (!correctness["passed"].as_bool()) return "";
  const size_t shapes = correctness["shapes_tested"].items().size();
  std::string text = fmt::format("{} shape{} on {}", shapes, shapes == 1 ? "" : "s",
                                 correctness["device"].as_string());
  if (correctness["max_z"].is_number()) {
    text += fmt::format(", worst error {:.2f} of its bound", correctness["max_z"].as_double());
  }
  if (!correctness["certified"].as_bool()) return text;
  // Early reports do not name their judge; their candidates do.
  const auto old = std::ranges::find_if(view.candidates, [](const store::CandidateRow& row) {
    return row.verdict == "passed" && row.has_old_verdict();
  });
  const int64_t judge = correctness["judge"].as_int(
      old == view.candidates.end() ? record::kJudgeVersion : old->judge);
  if (judge >= record::kJudgeVersion) return text + ", certified";
  return text + fmt::format(", certified by version {} of the judge, now {}: verify again", judge,
                            record::kJudgeVersion);
}

std::string old_judge_text(int64_t version) {
  return fmt::format("judged by version {} of the judge, now {}: verify again", version,
                     record::kJudgeVersion);
}

std::string candidates_table(const workflows::RunView& view, size_t most, const Style& style) {
  Table table({"candidate", "verdict", ">us", ">estimate us", "what it is", "tunables"});
  for (size_t i = 0; i < std::min(most, view.candidates.size()); ++i) {
    const store::CandidateRow& row = view.candidates[i];
    std::string verdict = row.verdict.empty() ? "not judged" : printable(row.verdict);
    if (row.has_old_verdict()) verdict += " *";
    const std::string what =
        row.verdict == "passed" || row.reason.empty() ? row.origin : row.reason;
    table.add({row.id, verdict, optional_text(row.microseconds), optional_text(row.estimate_us),
               first_line(what, 60), printable(task::dims_text(row.tunes))});
  }
  std::string text = table.empty() ? "" : "\n" + table.text(style);
  const size_t all = std::max(view.candidates.size(), static_cast<size_t>(view.listed));
  if (all > most) text += fmt::format("  and {} more\n", all - most);
  const auto old = std::ranges::find_if(view.candidates, &store::CandidateRow::has_old_verdict);
  if (old != view.candidates.end()) text += "  * " + old_judge_text(old->judge) + "\n";
  return text;
}

std::string events_text(const workflows::RunView& view) {
  std::string text = "\n";
  for (const record::Event& event : view.events) {
    text += fmt::format("  {:>9.3f} s  {:<10} {}\n", event.seconds, printable(event.kind),
                        printable(event.data.dump()));
  }
  return text;
}

std::string next_text(const workflows::RunView& view) {
  if (view.run.status != "interrupted") return "";
  return fmt::format("\ncontinue with: kernelwright resume {}\n", shell_quote(view.run.folder));
}

std::string differences_text(const char* title, const std::vector<workflows::Difference>& list,
                             const Style& style) {
  if (list.empty()) return "";
  Table table({title, "before", "after"});
  for (const workflows::Difference& one : list) {
    table.add({printable(one.what), first_line(one.before.empty() ? "-" : one.before, 60),
               first_line(one.after.empty() ? "-" : one.after, 60)});
  }
  return "\n" + table.text(style);
}

std::string coloured_diff(const std::string& diff, const Style& style) {
  if (diff.empty()) return "";
  std::string text = "\n";
  for (const std::string_view each : split_lines(diff)) {
    const std::string shown = printable(each);
    const char sign = shown.empty() ? ' ' : shown[0];
    text += (sign == '-'   ? report::paint(style, Paint::Error, shown)
             : sign == '+' ? report::paint(style, Paint::Good, shown)
                           : shown) +
            "\n";
  }
  return text;
}

/// The models that were asked, for which stages, and the cost; "" if no model was asked.
std::string models_lines(const workflows::RunView& view) {
  const Json& models = view.report["models"];
  if (!models.is_object()) return "";
  const Json& total = models["ledger"]["total"];
  std::string text = line("models", fmt::format("{} calls, cost {}", total["calls"].as_int(),
                                                total["text"].as_string()));
  for (const Json& trace : view.report["report"]["stage_traces"].items()) {
    if (trace["model_used"].as_string() == "none") continue;
    text += line(
        "", fmt::format("{}: {} attempts={} model={} tokens={}/{} cache_read={}",
                        trace["stage_name"].as_string(),
                        trace["succeeded"].as_bool() ? "ok" : "failed", trace["attempts"].as_int(),
                        trace["model_used"].as_string(), trace["tokens_in"].as_int(),
                        trace["tokens_out"].as_int(), trace["cache_read_tokens"].as_int()));
  }
  const Json& polish = models["polish"];
  if (polish["accepted"].as_bool()) text += line("polish", "accepted");
  if (polish["reason"].is_string())
    text += line("polish", "rejected: " + polish["reason"].as_string());
  return text;
}

}  // namespace

std::string runs_text(const std::vector<store::RunRow>& runs, const Style& style) {
  Table table(
      {"run", "task", "status", ">best", ">speedup", ">passed", ">tried", ">seconds", ">size"});
  for (const store::RunRow& run : runs) {
    table.add({printable(run.id), printable(run.name), status_text(run.status, style),
               speed_text(run), optional_text(run.speedup), std::to_string(run.passed),
               std::to_string(run.candidates), fmt::format("{:.1f}", run.seconds),
               human_bytes(static_cast<uint64_t>(run.bytes))});
  }
  return table.text(style, 0);
}

std::string inspect_text(const workflows::RunView& view, size_t most, bool events,
                         const Style& style) {
  std::string text = fmt::format("{}  {}  {}\n", printable(view.run.id), printable(view.run.name),
                                 status_text(view.run.status, style));
  text += line("when", sessions_text(view)) + line("folder", view.run.folder);
  text += line("asked", join({view.run.target, view.run.proposer}, " "));
  text += line("prompt", std::string(trim(view.prompt)));
  text += line("failed at", view.report["failed_stage"].as_string());
  text += line("because", view.run.reason);
  text += line("right", correctness_text(view));
  text += line("best", result_text(view)) + line("kernel", view.kernel_path);
  text += line("candidates", counts_text(view)) + models_lines(view);
  if (!view.foreign.empty())
    text += line("signature",
                 view.foreign + ": its verdicts are not checked; " + "'resume' judges them again");
  if (view.unsettled_calls > 0)
    text += line("models", fmt::format("{} calls have no recorded answer; they count as spent: {}",
                                       view.unsettled_calls, view.unsettled_cost));
  for (const std::string& what : view.damage) {
    text += "  " + report::paint(style, Paint::Error, "damaged") + "    " + printable(what) + "\n";
  }
  text += candidates_table(view, most, style);
  if (events) text += events_text(view);
  return text + next_text(view);
}

std::string candidate_text(const workflows::CandidateView& view, const Style& style) {
  const record::Candidate& one = view.candidate;
  std::string verdict = view.verdict["verdict"].as_string();
  if (verdict.empty()) verdict = "not judged";
  std::string text = fmt::format(
      "{}  {}\n", one.id,
      report::paint(style, verdict == "passed" ? Paint::Good : Paint::Warning, printable(verdict)));
  if (view.altered)
    text +=
        line("damaged", "its verdict or timing is not what the run recorded, so neither counts");
  text += line("from", one.proposer) + line("what", one.origin);
  text += line("tunables", task::dims_text(one.tunes)) + line("parents", join(one.parents, " "));
  text += line("added", fmt::format("after {:.3f} s", one.when));
  const int64_t judge = store::judge_version(view.verdict);
  if (view.verdict.is_object() && judge < record::kJudgeVersion)
    text += line("outdated", old_judge_text(judge));
  text += line("stopped at", view.verdict["stage"].as_string());
  text += line("because", view.verdict["reason"].as_string());
  text += line("again with", view.verdict["repro"].as_string());
  if (const auto us = store::measured_us(view.timing)) {
    text += line("time", report::short_number(*us) + " us, measured");
  }
  if (!view.compile_log.empty()) text += "\n" + printable(view.compile_log) + "\n";
  return text + "\n" + printable(one.text);
}

std::string diff_text(const workflows::RunDiff& diff, const Style& style) {
  if (diff.same()) return "the two runs have the same request and the same result\n";
  Table table({"run", "task", "status", ">best", "passed", "tried"});
  for (const store::RunRow* run : {&diff.before, &diff.after}) {
    table.add({printable(run->id), printable(run->name), status_text(run->status, style),
               speed_text(*run), std::to_string(run->passed), std::to_string(run->candidates)});
  }
  return table.text(style, 0) + differences_text("asked", diff.asked, style) +
         differences_text("result", diff.came_out, style) + coloured_diff(diff.prompt, style) +
         coloured_diff(diff.reference, style) + coloured_diff(diff.kernel, style);
}

std::string gc_text(const store::GcReport& report, bool removed, const Style& style) {
  std::string text;
  for (const store::GcItem& item : report.items) {
    text += fmt::format("{:<40} {:>10}  {}", printable(item.run.id),
                        human_bytes(static_cast<uint64_t>(item.run.bytes)), item.why);
    if (!item.problem.empty()) {
      text += "  " + report::paint(style, Paint::Error, "kept") + ": " + printable(item.problem);
    }
    text += "\n";
  }
  return text + fmt::format("{} {} of {} runs, {} of {}{}\n", removed ? "removed" : "would remove",
                            report.removable(), report.runs,
                            human_bytes(static_cast<uint64_t>(report.freed)),
                            human_bytes(static_cast<uint64_t>(report.bytes)),
                            removed ? "" : "; do it with --delete");
}

std::string fsck_text(const workflows::FsckReport& report, const Style& style) {
  std::string text;
  for (const workflows::FsckFinding& one : report.findings) {
    const char* word = one.repaired ? "repaired" : one.note ? "note" : "fault";
    const Paint paint = one.repaired ? Paint::Good : one.note ? Paint::Warning : Paint::Error;
    text += fmt::format("{}  {}: {}\n", report::paint(style, paint, word), printable(one.where),
                        printable(one.what));
    if (!one.repaired && !one.todo.empty()) text += "  " + printable(one.todo) + "\n";
  }
  return text + fmt::format("checked {} run{} with {} candidates: {}\n", report.runs,
                            report.runs == 1 ? "" : "s", report.candidates,
                            report.has_faults() ? "there are faults" : "no fault is left");
}

}  // namespace kw::commands
