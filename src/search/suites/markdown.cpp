// A suite has many tasks, and one mean can hide failures or a single lucky result. So summary.md
// shows rates with intervals, quantiles, the mean without the best task, and then every failure and
// every change. A number that is not known is "–", never 0. Reasons are cut to 160 bytes, because a
// compiler's message can fill pages; the JSON of the task has the whole text. One table for
// everything was the alternative; it is too wide to read. The terminal gets the same numbers in a
// few lines.
#include <fmt/core.h>

#include <utility>
#include <vector>

#include "core/text.h"
#include "suites/evaluation.h"
#include "suites/number_text.h"

namespace kw::suites {

namespace {

constexpr size_t kReasonBytes = 160;

/// Escapes bars, so that a text stays in its cell.
std::string cell(const std::string& text) { return replace_all(text, "|", "\\|"); }

std::string number(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.1f}{}", *value, unit) : "–";
}

std::string head(const Evaluation& e) {
  std::string text = fmt::format("# Evaluation of `{}`\n\n", e.suite);
  text += fmt::format("kernelwright {}, started {}, updated {}: {} of {} tasks{}.\n\n", e.version,
                      e.started, e.updated, e.rows.size(), e.selected,
                      e.interrupted ? ", interrupted" : "");
  for (const auto& [name, value] : e.settings) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", name, value);
  }
  return text + fmt::format("\n```\n{}\n```\n\n", e.command);
}

using Line = std::pair<const char*, std::string>;

std::vector<Line> speedup_lines(const Totals& t) {
  if (t.compared == 0) return {{"speedups", "nothing was timed beside a baseline"}};
  std::vector<Line> lines = {
      {"fast_1 (FASTER than the best baseline)", rate_text(t.fast_1)},
      {"not slower (FASTER or SAME)", rate_text(t.not_slower)},
      {"FASTER / SAME / AMBIGUOUS / SLOWER",
       fmt::format("{} / {} / {} / {}", t.faster, t.same, t.ambiguous, t.slower)},
      {"speedup, geometric mean", speedup_text(t.geomean)},
      {"speedup, median", speedup_text(t.median)},
      {"speedup, 25th percentile", speedup_text(t.p25)},
  };
  if (t.without_best) {
    lines.emplace_back("geometric mean without the largest",
                       fmt::format("{:.3f}x (without {}, {:.2f}x)", t.without_best->geomean,
                                   t.without_best->kernel, t.without_best->speedup));
  }
  lines.emplace_back("below the performance target", fmt::format("{}", t.below_target));
  return lines;
}

std::vector<Line> floor_lines(const Totals& t) {
  std::vector<Line> lines;
  if (t.of_floor) {
    lines = {
        {"floor / time, median", fmt::format("{:.1f} % ({:.1f} … {:.1f})", 100 * t.of_floor->value,
                                             100 * t.of_floor->low, 100 * t.of_floor->high)},
        {"floor / time, 25th percentile", share_text(t.of_floor_p25)},
        {"at 95 % of the floor or nearer", rate_text(t.near_floor)}};
  }
  if (t.estimated_of_floor)
    lines.emplace_back("floor / time, median, estimated", share_text(t.estimated_of_floor));
  return lines;
}

std::string totals_table(const Totals& t) {
  std::vector<Line> lines = {{"passed", rate_text(t.passed)}};
  if (!t.failures.empty()) lines.emplace_back("failed", failures_text(t));
  for (const std::vector<Line>& more : {speedup_lines(t), floor_lines(t)})
    lines.insert(lines.end(), more.begin(), more.end());
  if (t.baseline_failed > 0)
    lines.emplace_back("baselines that failed", fmt::format("{}", t.baseline_failed));
  lines.emplace_back("time", fmt::format("{} in all, median {} per task", duration_text(t.seconds),
                                         duration_text(t.median_seconds)));
  lines.emplace_back("cost", t.cost_usd ? fmt::format("${:.2f}", *t.cost_usd) : "–");
  std::string text = "| | |\n|---|---|\n";
  for (const auto& [name, value] : lines) text += fmt::format("| {} | {} |\n", name, value);
  return text + "\n";
}

std::string fast_p_table(const Totals& t) {
  if (t.compared == 0) return "";
  std::string names = "| p |", rule = "|---|", values = "| fast_p |";
  for (const auto& [p, rate] : t.fast_p) {
    names += fmt::format(" {:g} |", p);
    rule += "---|";
    values += fmt::format(" {}/{} |", rate.count, rate.of);
  }
  return names + "\n" + rule + "\n" + values + "\n\n";
}

std::string changes_list(const Evaluation& e) {
  if (e.against.empty()) return "";
  std::string text = fmt::format("## Against `{}`\n\n{} regression{}.\n\n", e.against,
                                 e.regressions(), e.regressions() == 1 ? "" : "s");
  for (const Change& change : e.changes) {
    text += fmt::format("- {}`{}` {}", change.regression() ? "**worse** " : "", change.kernel,
                        change.text());
    if (change.band > 0) text += fmt::format(" (noise band {:.1f} %)", 100 * change.band);
    text += '\n';
  }
  return text + (e.changes.empty() ? "" : "\n");
}

std::string baselines_list(const Evaluation& e) {
  std::string text;
  for (const TaskRow& row : e.rows) {
    if (!row.baseline_failure.empty())
      text += fmt::format("- `{}` {}\n", row.kernel, cell(row.baseline_failure));
  }
  return text.empty() ? "" : "## Baselines that failed\n\n" + text + "\n";
}

std::string rows_table(const Evaluation& e) {
  std::string text =
      "## Tasks\n\n| task | shape | verdict | vs best | best baseline | vs compile | vs eager | "
      "time | floor / time | tried | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const TaskRow& row : e.rows) {
    const std::string verdict = !row.passed            ? "failed"
                                : row.relation.empty() ? "passed"
                                                       : row.relation;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {}{} | {} | {} | {:.1f} |\n",
                        cell(row.kernel), cell(row.shape), verdict, times_text(row.speedup),
                        cell(row.best_baseline), times_text(row.speedup_vs_torch_compile),
                        times_text(row.speedup_vs_reference), number(row.time_us, " µs"),
                        row.time_us && !row.measured ? " est." : "", share_text(row.of_floor),
                        row.tried, row.wall_seconds);
  }
  return text + "\n";
}

std::string failures_list(const Evaluation& e) {
  std::string text;
  for (const TaskRow& row : e.rows) {
    if (row.passed) continue;
    text += fmt::format("- `{}`: {} at {}: {}\n", row.kernel, row.failure_kind,
                        row.failed_stage.empty() ? "start" : row.failed_stage,
                        short_text(row.failure_reason, kReasonBytes));
  }
  return text.empty() ? "" : "## Failures\n\n" + text + "\n";
}

}  // namespace

std::string summary_markdown(const Evaluation& evaluation) {
  return head(evaluation) + totals_table(evaluation.totals) + fast_p_table(evaluation.totals) +
         changes_list(evaluation) + failures_list(evaluation) + baselines_list(evaluation) +
         rows_table(evaluation);
}

std::string summary_text(const Evaluation& e) {
  const Totals& t = e.totals;
  std::string text = fmt::format("passed      {}\n", rate_text(t.passed));
  if (!t.failures.empty()) text += fmt::format("failed      {}\n", failures_text(t));
  if (t.compared > 0) {
    text += fmt::format("fast_1      {}\n", rate_text(t.fast_1));
    text += fmt::format("not slower  {}\n", rate_text(t.not_slower));
    text += fmt::format("verdicts    {} FASTER, {} SAME, {} AMBIGUOUS, {} SLOWER\n", t.faster,
                        t.same, t.ambiguous, t.slower);
    text += fmt::format("speedup     geomean {}, median {}, p25 {}\n", speedup_text(t.geomean),
                        speedup_text(t.median), speedup_text(t.p25));
  }
  if (t.of_floor)
    text += fmt::format("floor/time  median {}\n", share_text(t.of_floor->value));
  else if (t.estimated_of_floor)
    text += fmt::format("floor/time  median {} (estimated)\n", share_text(t.estimated_of_floor));
  text += fmt::format("time        {}, median {} per task\n", duration_text(t.seconds),
                      duration_text(t.median_seconds));
  if (t.cost_usd.value_or(0) > 0) text += fmt::format("cost        ${:.2f}\n", *t.cost_usd);
  for (const TaskRow& row : e.rows) {
    if (row.passed) continue;
    text +=
        fmt::format("  failed {}: {}\n", row.kernel, short_text(row.failure_reason, kReasonBytes));
  }
  if (!e.against.empty()) {
    text += fmt::format("against     {}: {} regression{}\n", e.against, e.regressions(),
                        e.regressions() == 1 ? "" : "s");
  }
  for (const Change& change : e.changes) {
    if (change.regression()) text += fmt::format("  worse  {}: {}\n", change.kernel, change.text());
  }
  return text;
}

}  // namespace kw::suites
