#include <fmt/core.h>

#include "core/json_writer.h"
#include "optimize/bench_file.h"
#include "optimize/records.h"
#include "optimize/steps.h"
#include "optimize/summary_page.h"

namespace kw::optimize {
namespace {

/// Races baseline and best together once more: times of different races cannot be divided.
Status race_headline(Folder& folder, OptimizeTools& tools) {
  State& state = folder.state;
  if (state.best.iter == 0 || !tools.judge->has_clock()) return Done{};
  KW_TRY(check_frozen(folder, tools));
  const std::string first = KW_TRY(folder.read(state.baseline.file, kMostKernelBytes));
  const std::string best = KW_TRY(folder.read(state.best.file, kMostKernelBytes));
  const std::vector<ports::Outcome> raced = KW_TRY(race(*tools.judge, {first, best}));
  state.headline = raced[1].ratio;
  return folder.write_json("headline_bench.json", bench_document(state, state.best.file, raced[1]));
}

void give_up_open(State& state) {
  if (state.phase == Phase::Ready || state.phase == Phase::Closed) return;
  record_no_kernel(state, "abandoned");
  state.champion.reset();
}

}  // namespace

Result<Outcome> finalize(Folder& folder, OptimizeTools* tools, bool force, const Say& say) {
  State& state = folder.state;
  KW_TRY(may(state, Step::Finalize, state.iter, force));
  give_up_open(state);
  if (tools != nullptr) {
    if (say) say("racing the baseline and the best together");
    KW_TRY(race_headline(folder, *tools));
  }
  state.phase = Phase::Finalized;
  KW_TRY(folder.write("summary.md", summary_text(state)));
  KW_TRY(folder.commit("finalize"));
  Outcome outcome = show_state(state);
  JsonWriter v;
  v("run_dir", folder.path())("summary", folder.at("summary.md"));
  v("best_file", folder.at(state.best.file))("baseline_ms", ms_of(state.baseline.us));
  v("best_metric_ms", ms_of(state.best.us))("measured", state.best.measured);
  v("speedup", state.headline ? std::optional(state.headline->value) : state.speedup());
  v("headline", state.headline)("effective_methods", state.effective);
  v("ineffective_methods", state.ineffective);
  v("implementation_failed_methods", state.implementation_failed);
  v("unverified_methods", state.unverified)("history", state.history);
  outcome.document = v.take();
  outcome.text += fmt::format("summary   {}\n", folder.at("summary.md"));
  return outcome;
}

Outcome show_state(const State& state) {
  Outcome outcome;
  outcome.document = to_json(state);
  outcome.document.set("next_step", next_step(state));
  std::string& text = outcome.text;
  text = fmt::format("run       {}\n", state.run_dir);
  text += fmt::format("task      {} on {}{}\n", state.task, state.target,
                      state.has_clock ? "" : " (estimates: there is no clock)");
  text += fmt::format("phase     {}", phase_name(state.phase));
  if (state.iter > 0)
    text += fmt::format(", iteration {} of {}", state.iter, state.settings.iterations);
  if (state.retries > 0) text += fmt::format(", {} failed tries", state.retries);
  text += fmt::format("\nbaseline  {}\n", time_text(state.baseline.us, state.baseline.measured));
  text += fmt::format("best      {} ({})\n", time_text(state.best.us, state.best.measured),
                      state.best.file);
  if (state.headline)
    text += fmt::format("speedup   {}\n", ratio_text(*state.headline));
  else if (state.best.iter > 0 && state.speedup())
    text += fmt::format("speedup   {:.2f}x{}\n", *state.speedup(),
                        state.has_clock ? "" : " (estimated)");
  constexpr std::pair<const char*, Json State::*> kClasses[] = {
      {"effective", &State::effective},
      {"ineffective", &State::ineffective},
      {"failed", &State::implementation_failed},
      {"unverified", &State::unverified}};
  for (const auto& [name, list] : kClasses) {
    for (const Json& entry : (state.*list).items())
      text += fmt::format("{:<12}{} (iteration {}): {}\n", name, entry["id"].as_string(),
                          entry["iter"].as_int(), entry["note"].as_string());
  }
  if (state.phase != Phase::Finalized) text += "next      " + next_step(state) + "\n";
  return outcome;
}

}  // namespace kw::optimize
