// A run compares kernels over many sessions, so its starting point must be right and must not
// change. setup verifies and times the baseline before it creates a folder; a baseline that fails
// leaves nothing behind. It then measures the noise of the clock with identical copies, which gives
// the smallest difference that counts, and collects evidence. check_frozen() compares baseline,
// reference, task, target and clock at each later step. Repairing after a change was the
// alternative; results before and after could not be compared. The cost: a run cannot move to
// another GPU target.
#include <fmt/core.h>

#include "core/hash.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "optimize/bench_file.h"
#include "optimize/evidence.h"
#include "optimize/steps.h"
#include "os/files.h"

namespace kw::optimize {
namespace {

std::string reference_hash(const std::string& path) {
  if (path.empty() || os::is_directory(path)) return "";
  const Result<std::string> text = os::read_file(path, kMostFileBytes);
  return text ? hash_hex(*text) : "";
}

/// What is wrong with the baseline before anything is run; "" when nothing is.
std::string module_problems(const SetupRequest& request) {
  const kernel::ParseOutcome parsed = kernel::parse(request.text, request.name);
  if (parsed.module) return "";
  return cuda_source::render_diagnostics(parsed.diagnostics, request.text, request.name);
}

std::vector<std::string> machine_warnings(const OptimizeTools& tools) {
  if (tools.judge->has_clock()) return {};
  return {"there is no clock here: all times are estimates, and no method will count as effective"};
}

struct Judgement {
  Outcome outcome;
  std::optional<ports::Outcome> raced;  // if it passed
};

Result<Judgement> judge_baseline(const SetupRequest& request, OptimizeTools& tools) {
  Judgement judgement;
  std::vector<std::string> errors, warnings = machine_warnings(tools);
  if (const std::string problems = module_problems(request); !problems.empty()) {
    errors.push_back(problems);
  } else {
    const ports::Outcome raced = KW_TRY(race(*tools.judge, {request.text})).front();
    if (!passed(raced))
      errors.push_back(
          fmt::format("the baseline does not pass ({}): {}", raced.verdict, problem_of(raced)));
    else
      judgement.raced = raced;
    if (passed(raced) && !problem_of(raced).empty()) warnings.push_back(problem_of(raced));
  }
  const bool ok = errors.empty();
  judgement.outcome.ok = ok;
  JsonWriter v;
  v("ok", ok)("baseline", request.settings.baseline)("ref", request.settings.reference);
  judgement.outcome.document = v("errors", errors)("warnings", warnings).take();
  for (const std::string& error : errors) judgement.outcome.text += error + "\n";
  for (const std::string& warning : warnings) judgement.outcome.text += "note: " + warning + "\n";
  if (ok)
    judgement.outcome.text += fmt::format(
        "the baseline passes: {}\n", time_text(us_of(*judgement.raced), judgement.raced->measured));
  return judgement;
}

State first_state(const SetupRequest& request, const OptimizeTools& tools,
                  const ports::Outcome& raced) {
  State state;
  state.settings = request.settings;
  state.task = tools.facts.task_name;
  state.task_hash = tools.facts.task_hash;
  state.target = tools.facts.target;
  state.has_clock = tools.judge->has_clock();
  state.baseline_hash = hash_hex(request.text);
  state.reference_hash = reference_hash(request.settings.reference);
  state.baseline.file = "baseline/" + request.name;
  state.baseline.us = us_of(raced);
  state.baseline.measured = raced.measured;
  const kernel::ParseOutcome parsed = kernel::parse(request.text, request.name);
  if (const auto tunes = kernel::default_tunes(*parsed.module))
    state.baseline.methods = kernel::active_methods(*parsed.module, *tunes);
  return state;
}

Status fill_folder(Folder& folder, const SetupRequest& request, OptimizeTools& tools,
                   const ports::Outcome& raced, const Say& say) {
  State& state = folder.state;
  KW_TRY(folder.write(state.baseline.file, request.text));
  if (!request.original.empty())
    KW_TRY(folder.write("baseline/original_" + request.name, request.original));
  KW_TRY(
      folder.write_json("baseline/bench.json", bench_document(state, state.baseline.file, raced)));
  state.env = tools.facts.environment();
  KW_TRY(folder.write_json("env.json", state.env));
  if (raced.measured) {
    if (say) say("calibrating the clock with identical copies");
    state.noise = KW_TRY(noise_of(*tools.judge, request.text));
  }
  if (say) say("examining the baseline");
  const std::string report = "baseline/best_input.ncu-rep";
  const profile::Examined examined =
      KW_TRY(tools.examiner->evidence(request.text, us_of(raced), folder.at(report)));
  if (!examined.ncu_report.empty()) state.baseline.ncu_report = report;
  KW_TRY(keep_evidence(folder, evidence_of(examined), "baseline/roofline.json",
                       "baseline/ncu_top.json", state.baseline));
  state.best = state.baseline;
  state.roofline_history.push(profile::history_row(0, examined.roofline));
  return Done{};
}

std::string setup_text(const State& state, const profile::Roofline& roofline) {
  std::string text = fmt::format("run       {}\n", state.run_dir);
  text += fmt::format("task      {} on {}\n", state.task, state.target);
  text += fmt::format("baseline  {}\n", time_text(state.baseline.us, state.baseline.measured));
  if (state.noise)
    text += fmt::format("clock     noise {:.2f} %, least visible difference {:.2f} % ({} pairs)\n",
                        state.noise->noise_pct, state.noise->mde_pct, state.noise->pairs);
  text += fmt::format("counts    from {:.2f} % on\n", state.threshold_pct());
  text += fmt::format("limited   by {}{}\n", profile::bottleneck_name(roofline.bottleneck),
                      roofline.near_peak ? ", near the peak: no further speedup is expected" : "");
  return text + "next      " + next_step(state) + "\n";
}

Error machine_error(const std::string& what, const std::string& then, const std::string& now) {
  return environment_error(
      "this run was set up {} {}, and here it is {}: continue where it began, or set up a new run "
      "from its best kernel",
      what, then, now);
}

}  // namespace

Result<Outcome> preflight(const SetupRequest& request, OptimizeTools& tools) {
  Judgement judgement = KW_TRY(judge_baseline(request, tools));
  return std::move(judgement.outcome);
}

Result<Outcome> preflight(const Folder& folder, OptimizeTools& tools) {
  KW_TRY(check_frozen(folder, tools));
  SetupRequest request;
  request.text = KW_TRY(folder.read(folder.state.best.file, kMostKernelBytes));
  request.name = folder.state.best.file;
  request.settings = folder.state.settings;
  return preflight(request, tools);
}

Result<Outcome> setup(const SetupRequest& request, OptimizeTools& tools,
                      std::optional<Folder>& made, const Say& say) {
  Judgement judgement = KW_TRY(judge_baseline(request, tools));
  if (!judgement.raced) return std::move(judgement.outcome);
  const std::string path =
      request.folder.empty() ? KW_TRY(make_run_folder(request.parent)) : request.folder;
  Folder folder = KW_TRY(Folder::create(path));
  State state = first_state(request, tools, *judgement.raced);
  state.run_dir = folder.state.run_dir;
  state.created_at = folder.state.created_at;
  folder.state = std::move(state);
  KW_TRY(fill_folder(folder, request, tools, *judgement.raced, say));
  KW_TRY(folder.commit("setup"));
  const Evidence evidence = KW_TRY(evidence_about(folder, folder.state.best));
  Outcome outcome;
  outcome.text = setup_text(folder.state, evidence.roofline);
  const State& begun = folder.state;
  JsonWriter v;
  v("run_dir", folder.path())("state", folder.at("state.json"))("env", folder.at("env.json"));
  v("baseline_ms", ms_of(begun.baseline.us))("measured", begun.baseline.measured);
  v("noise_threshold_pct", begun.threshold_pct())("roofline", evidence.roofline);
  v("early_stop", evidence.roofline.near_peak)("next_step", next_step(begun));
  outcome.document = v.take();
  made = std::move(folder);
  return outcome;
}

Status check_frozen(const Folder& folder, OptimizeTools& tools) {
  const State& state = folder.state;
  const std::string baseline = KW_TRY(folder.read(state.baseline.file, kMostKernelBytes));
  if (hash_hex(baseline) != state.baseline_hash)
    return input_error("{} was changed after setup: restore it, or set up a new run",
                       folder.at(state.baseline.file));
  if (reference_hash(state.settings.reference) != state.reference_hash ||
      tools.facts.task_hash != state.task_hash)
    return input_error("the reference {} was changed after setup: restore it, or set up a new run",
                       state.settings.reference);
  if (tools.facts.target != state.target)
    return machine_error("for", state.target, tools.facts.target);
  if (tools.judge->has_clock() != state.has_clock)
    return machine_error("with", state.has_clock ? "a clock" : "estimates",
                         state.has_clock ? "without one" : "with a clock");
  return Done{};
}

}  // namespace kw::optimize
