#include "optimize/analysis.h"

#include <fmt/core.h>

#include "optimize/bench_file.h"
#include "profile/profile_text.h"
#include "profile/trigger.h"

namespace kw::optimize {
namespace {

std::string gap_text(const std::optional<double>& gap) {
  return gap ? fmt::format("{:.1f} %", 100 * *gap) : "unknown";
}

std::string facts(const State& state, const Evidence& evidence) {
  const profile::Roofline& r = evidence.roofline;
  std::string text = fmt::format("# Iteration {}\n\n", state.iter);
  text += fmt::format("- input: `{}`, {}\n- target: {}\n- counters: {}\n", state.best.file,
                      time_text(state.best.us, state.best.measured), state.target,
                      evidence.counters ? "read from hardware" : "none: " + evidence.no_counters);
  text += fmt::format("- a difference counts from {:.2f} % on\n", state.threshold_pct());
  text += fmt::format("- limited by: {}{}\n\n", profile::bottleneck_name(r.bottleneck),
                      r.estimated ? " (estimated: nothing was timed)" : "");
  text += "## Roofline\n\n| axis | gap | methods |\n|---|---|---|\n";
  text += fmt::format("| compute | {} | {} |\n", gap_text(r.gaps.compute), r.budget.compute);
  text += fmt::format("| memory | {} | {} |\n", gap_text(r.gaps.memory), r.budget.memory);
  text += fmt::format("| latency | {} | {} |\n\n", gap_text(r.gaps.latency), r.budget.latency);
  for (const std::string& reason : r.reasons) text += "- " + reason + "\n";
  text += "\n## Metrics\n\n| metric | value | source |\n|---|---|---|\n";
  for (const auto& [id, known] : evidence.metrics.all())
    text += fmt::format("| {} | {} | {} |\n", id, profile::value_text(id, known.value),
                        profile::source_name(known.source));
  return text + "\n";
}

std::string plan_part(const profile::Plan& plan) {
  return "## What the evidence supports\n\n```\n" + profile::plan_text(plan) + "```\n\n";
}

}  // namespace

std::string analysis_template(const State& state, const Evidence& evidence,
                              const profile::Plan& plan) {
  std::string text = facts(state, evidence) + plan_part(plan);
  text += "## Diagnosis\n\n<!-- where does the time go, and which metrics say so? -->\n\n";
  text += "## Methods\n\n";
  for (const profile::Judged* one : plan.chosen)
    text += fmt::format(
        "### {}\n\n- {}\n- change against the best kernel:\n- expected shift of metrics:\n- "
        "risk:\n\n",
        one->method->id, one->why);
  text += "## Left out, and why\n\n\n## Branches\n\n| branch | tile | stages | warps | note |\n";
  text += "|---|---|---|---|---|\n";
  for (int i = 1; i <= state.settings.branches; ++i) text += fmt::format("| b{} | | | | |\n", i);
  return text + "\n## Result\n\n<!-- after close-iter: expected against observed -->\n";
}

std::string analysis_by(const std::string& author, const State& state, const Evidence& evidence,
                        const profile::Plan& plan, const std::vector<std::string>& notes,
                        const std::vector<std::string>& cannot) {
  std::string text = facts(state, evidence) + plan_part(plan);
  text += fmt::format("## Branches by {}\n\n", author);
  for (const std::string& note : notes) text += "- " + note + "\n";
  if (notes.empty()) text += "none\n";
  if (cannot.empty()) return text;
  text += fmt::format("\n## What {} cannot write here\n\n", author);
  for (const std::string& one : cannot) text += "- " + one + "\n";
  return text;
}

}  // namespace kw::optimize
