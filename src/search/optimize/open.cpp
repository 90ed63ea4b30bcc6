#include <fmt/core.h>

#include "core/json_writer.h"
#include "core/text.h"
#include "optimize/analysis.h"
#include "optimize/bench_file.h"
#include "optimize/evidence.h"
#include "optimize/iteration_plan.h"
#include "optimize/steps.h"
#include "os/files.h"
#include "profile/profile_text.h"

namespace kw::optimize {
namespace {

/// Copies the evidence about the best kernel to the iteration's own files.
Status copy_evidence(Folder& folder, int iteration) {
  const Kept& best = folder.state.best;
  const auto name = [&](const char* file) { return Folder::in_iteration(iteration, file); };
  const std::string roofline = KW_TRY(folder.read_stamped(best.roofline));
  const std::string metrics = KW_TRY(folder.read_stamped(best.metrics));
  KW_TRY(folder.write(name("roofline.json"), roofline));
  KW_TRY(folder.write(name("ncu_top.json"), metrics));
  if (best.ncu_report.empty() || !folder.has(best.ncu_report)) return Done{};
  const std::string report = KW_TRY(folder.read(best.ncu_report, uint64_t{1} << 30));
  return folder.write(name("best_input.ncu-rep"), report);
}

Status make_places(const Folder& folder, int iteration) {
  for (int i = 1; i <= folder.state.settings.branches; ++i)
    KW_TRY(os::make_directories(
        folder.at(Folder::in_iteration(iteration, fmt::format("branches/b{}", i)))));
  return os::make_directories(folder.at(Folder::in_iteration(iteration, "ablations")));
}

Status refuse_near_peak(const State& state, const profile::Roofline& roofline, bool force) {
  if (!roofline.near_peak || force) return Done{};
  return input_error(
      "the best kernel is near the peak ({}): no further speedup is expected. Next: kernelwright "
      "optimize finalize --run-dir {} (or open-iter --force)",
      roofline.time_us && roofline.floor_us && *roofline.time_us > 0
          ? fmt::format("{:.0f} % of what is possible",
                        100 * *roofline.floor_us / *roofline.time_us)
          : "every known gap is below 15 %",
      shell_quote(state.run_dir));
}

void start(State& state, int iteration, bool force) {
  state.phase = Phase::Opened;
  state.iter = iteration;
  state.retries = 0;
  state.forced = force;
  state.champion.reset();
  state.overridden.clear();
  state.settings.iterations = std::max(state.settings.iterations, iteration);
}

std::string opened_text(const State& state, const Evidence& evidence, const profile::Plan& plan) {
  std::string text = fmt::format("iteration {} of {}: improving {} ({})\n\n", state.iter,
                                 state.settings.iterations, state.best.file,
                                 time_text(state.best.us, state.best.measured));
  text += profile::roofline_text(evidence.roofline) + "\n" + profile::plan_text(plan);
  return text + "\nnext: " + next_step(state) + "\n";
}

}  // namespace

Result<Outcome> open_iter(Folder& folder, int iteration, bool force) {
  State& state = folder.state;
  KW_TRY(may(state, Step::OpenIter, iteration, force));
  const Evidence evidence = KW_TRY(evidence_about(folder, state.best));
  KW_TRY(refuse_near_peak(state, evidence.roofline, force));
  start(state, iteration, force);
  KW_TRY(make_places(folder, iteration));
  KW_TRY(copy_evidence(folder, iteration));
  const profile::Plan plan = KW_TRY(plan_iteration(state, evidence));
  const Json document = plan_document(plan, state, iteration);
  KW_TRY(folder.write_json(Folder::in_iteration(iteration, "plan.json"), document));
  KW_TRY(folder.write(Folder::in_iteration(iteration, "analysis.md"),
                      analysis_template(state, evidence, plan)));
  KW_TRY(folder.commit("open-iter"));
  Outcome outcome;
  outcome.text = opened_text(state, evidence, plan);
  JsonWriter v;
  v("run_dir", folder.path())("iter", iteration);
  v("iteration_dir", folder.at(fmt::format("iterv{}", iteration)))("input", state.best.file);
  v("branches", state.settings.branches)("inherited_methods", state.best.methods);
  v("roofline", evidence.roofline)("plan", document);
  v("early_stop", evidence.roofline.near_peak)("next_step", next_step(state));
  outcome.document = v.take();
  return outcome;
}

Result<Outcome> validate_methods(const Folder& folder, int iteration) {
  const State& state = folder.state;
  KW_TRY(may(state, Step::Validate, iteration));
  const std::string name = Folder::in_iteration(iteration, "methods.json");
  if (!folder.has(name))
    return input_error("there is no {0}: write it ({1} is a proposal in the same form)",
                       folder.at(name), folder.at(Folder::in_iteration(iteration, "plan.json")));
  const std::string text = KW_TRY(folder.read(name));
  Claims claims = read_claims(text, iteration);
  const Evidence evidence = KW_TRY(evidence_about(folder, state.best));
  const profile::Plan plan = KW_TRY(plan_iteration(state, evidence));
  check_claims(claims, plan, state, evidence.roofline.budget);
  Outcome outcome;
  outcome.ok = claims.ok();
  outcome.text = claims_text(claims);
  outcome.text += claims.ok() ? fmt::format("{}: {} may be tried\n", name,
                                            claims.ids.empty() ? "no method is claimed; tunables"
                                                               : join(claims.ids, ", "))
                              : fmt::format("{} cannot be used as it is\n", name);
  outcome.document = to_json(claims);
  outcome.document.set("iter", iteration);
  return outcome;
}

Result<Outcome> show_roofline(const Folder& folder, int iteration) {
  KW_TRY(may(folder.state, Step::Roofline, iteration));
  const Evidence evidence = KW_TRY(evidence_about(folder, folder.state.best));
  Outcome outcome;
  outcome.text =
      profile::roofline_text(evidence.roofline) + "\n" + profile::metrics_text(evidence.metrics);
  JsonWriter v;
  v("iter", iteration)("roofline", evidence.roofline)("metrics", evidence.metrics);
  v("counters", evidence.counters)("no_counters", evidence.no_counters);
  outcome.document = v.take();
  return outcome;
}

}  // namespace kw::optimize
