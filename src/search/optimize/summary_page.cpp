// At the end of a run the user needs one page: the speedup, the machine, what each iteration tried,
// what worked and what nearly won. summary.md is made from the state alone, so it can be written
// without a device and repeated at any time. Estimated times are marked, and a speedup from
// different races is called so. Collecting from the files of each iteration was the alternative;
// edited files could change the result. The cost: only what the state records can appear.
#include "optimize/summary_page.h"

#include <fmt/core.h>

#include "core/json_reader.h"
#include "core/text.h"
#include "optimize/bench_file.h"

namespace kw::optimize {
namespace {

constexpr size_t kMostFrontier = 10;

std::string ms_text(const Json& ms, bool measured) {
  if (!ms.is_number()) return "not timed";
  return time_text(ms.as_double() * 1000, measured);
}

std::string share_text(const Json& gap) {
  return gap.is_number() ? fmt::format("{:.1f} %", 100 * gap.as_double()) : "unknown";
}

/// A table cell: one line, without bars.
std::string cell(std::string text) {
  return replace_all(replace_all(std::move(text), "\n", " "), "|", "\\|");
}

std::string headline(const State& state) {
  std::string text = "## Headline\n\n";
  text += fmt::format("- baseline: {} (`{}`)\n",
                      time_text(state.baseline.us, state.baseline.measured), state.baseline.file);
  text += fmt::format("- best: {} (`{}`)\n", time_text(state.best.us, state.best.measured),
                      state.best.file);
  if (state.best.iter == 0) return text + "- speedup: none; the baseline is still the best\n\n";
  if (state.headline)
    text += fmt::format("- speedup: **{}**, raced together\n", ratio_text(*state.headline));
  else if (const auto speedup = state.speedup())
    text += fmt::format("- speedup: {:.2f}x, {}\n", *speedup,
                        state.has_clock ? "of times measured in different races" : "estimated");
  if (!state.best.methods.empty())
    text += "- methods in it: " + join(state.best.methods, ", ") + "\n";
  if (!state.best.ncu_report.empty())
    text += fmt::format("- profile: `{}`\n", state.best.ncu_report);
  return text + "\n";
}

/// The scalars of env.json, one level deep.
std::string environment(const State& state) {
  std::string text = "## Environment\n\n";
  text += fmt::format("- target: {}\n", state.target);
  text += state.has_clock ? "- times: measured\n"
                          : "- times: **estimated**; there was no clock, so no method can count as "
                            "effective\n";
  if (state.noise)
    text += fmt::format("- clock: noise {:.2f} %, least visible difference {:.2f} % ({} pairs)\n",
                        state.noise->noise_pct, state.noise->mde_pct, state.noise->pairs);
  text += fmt::format("- differences count from {:.2f} % on\n", state.threshold_pct());
  for (const auto& [key, value] : state.env.members()) {
    if (key == "target" || key == "dims") continue;  // already shown
    if (value.is_string() && !value.as_string().empty())
      text += fmt::format("- {}: {}\n", key, cell(value.as_string()));
    else if (value.is_number() || value.is_bool())
      text += fmt::format("- {}: {}\n", key, value.dump());
  }
  return text + "\n";
}

std::string timeline(const State& state) {
  std::string text =
      "## Timeline\n\n| iteration | branch | time | against its parent | status | methods "
      "|\n|---|---|---|---|---|---|\n";
  for (const Json& row : state.history.items()) {
    std::vector<std::string> methods;
    for (const auto& [id, what] : row["classes"].members())
      methods.push_back(fmt::format("{} ({})", id, what.as_string()));
    if (methods.empty()) methods = strings_of(row["methods"]);
    const auto ratio = value_of<std::optional<Ratio>>(row["speedup_vs_best_before"]);
    text += fmt::format(
        "| {} | {} | {} | {} | {}{}{} | {} |\n", row["iter"].as_int(), row["branch"].as_string(),
        ms_text(row["ms"], row["measured"].as_bool()), ratio ? ratio_text(*ratio) : "",
        row["status"].as_string(), row["adopted"].as_bool() ? ", adopted" : "",
        row["overridden"].items().empty() ? "" : ", gate overridden", cell(join(methods, ", ")));
  }
  if (state.history.items().empty()) text += "| | | | | no iteration was closed | |\n";
  return text + "\n";
}

std::string drift(const State& state) {
  std::string text =
      "## How the bottleneck moved\n\n| kernel | compute | memory | latency | limited by | "
      "budget c/m/l |\n|---|---|---|---|---|---|\n";
  for (const Json& row : state.roofline_history.items()) {
    const Json& budget = row["axis_budget"];
    text +=
        fmt::format("| {} | {} | {} | {} | {}{} | {}/{}/{} |\n",
                    row["iter"].as_int() == 0 ? "baseline"
                                              : fmt::format("champion of {}", row["iter"].as_int()),
                    share_text(row["delta_compute"]), share_text(row["delta_memory"]),
                    share_text(row["delta_latency"]), row["bound"].as_string(),
                    row["near_peak"].as_bool() ? ", near peak" : "", budget["compute"].as_int(),
                    budget["memory"].as_int(), budget["latency"].as_int());
  }
  return text + "\n";
}

std::string attribution_text(const Json& entry) {
  const std::string& kind = entry["attribution"].as_string();
  const Json& pct = entry["attribution_pct"];
  if (!pct.is_number()) return kind;
  const Json::Array& interval = entry["attribution_interval_pct"].items();
  if (interval.size() == 2)
    return fmt::format("{:.2f} % ({:.2f} to {:.2f})", pct.as_double(), interval[0].as_double(),
                       interval[1].as_double());
  return fmt::format("{:.2f} % ({})", pct.as_double(), kind);
}

std::string methods_part(const char* title, const Json& list) {
  std::string text = fmt::format("### {}\n\n", title);
  if (list.items().empty()) return text + "none\n\n";
  text +=
      "| iteration | method | longer without it | machine code | why |\n|---|---|---|---|---|\n";
  for (const Json& entry : list.items())
    text += fmt::format("| {} | {} | {} | {}: {} | {} |\n", entry["iter"].as_int(),
                        entry["id"].as_string(), attribution_text(entry), entry["sass"].as_string(),
                        cell(entry["sass_why"].as_string()), cell(entry["note"].as_string()));
  return text + "\n";
}

std::string frontier(const State& state) {
  std::string text = "## Frontier\n\n";
  const Json::Array& all = state.frontier.items();
  if (all.empty()) return text + "none\n\n";
  text += "| iteration | kernel | time | why it is not the champion |\n|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(all.size(), kMostFrontier); ++i)
    text += fmt::format(
        "| {} | `{}` | {} | {} |\n", all[i]["iter"].as_int(), all[i]["kernel"].as_string(),
        ms_text(all[i]["ms"], all[i]["measured"].as_bool()), cell(all[i]["why"].as_string()));
  if (all.size() > kMostFrontier)
    text += fmt::format("\n{} more in state.json\n", all.size() - kMostFrontier);
  return text + "\n";
}

}  // namespace

std::string summary_text(const State& state) {
  std::string text = fmt::format("# Optimising {}\n\n", state.task);
  text += fmt::format("- run: {}\n- begun: {}\n- kernel: {}\n- reference: {}\n", state.run_dir,
                      state.created_at, state.settings.baseline, state.settings.reference);
  std::vector<std::string> dims;
  for (const auto& [name, value] : state.settings.dims)
    dims.push_back(fmt::format("{}={}", name, value));
  if (!dims.empty()) text += "- dims: " + join(dims, " ") + "\n";
  text += fmt::format("- branches by: {}\n\n", state.settings.proposer);
  text += headline(state) + environment(state) + timeline(state) + drift(state);
  text += "## Methods\n\n";
  text += methods_part("Effective", state.effective);
  text += methods_part("Ineffective", state.ineffective);
  text += methods_part("Implementation failed", state.implementation_failed);
  text += methods_part("Unverified", state.unverified);
  text += frontier(state);
  return text + "## Retrospective\n\n<!-- what surprised, what to try next -->\n";
}

}  // namespace kw::optimize
