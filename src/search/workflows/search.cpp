// The search without models: the judge, the built-in proposer and the rules that stop it. The time
// limit covers the search; certifying comes in addition.
#include "halving/search.h"

#include <algorithm>

#include "arch/arch.h"
#include "variants/builtin.h"
#include "verification/verify_tools.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

constexpr size_t kGuesses = 12;       // candidates tried when there are only estimates
constexpr size_t kPlateauLooks = 40;  // measured without a better one

Result<std::unique_ptr<halving::Proposer>> make_proposer(const Session& session) {
  if (session.only_measure || session.request.proposer == "llm") return variants::no_proposer();
  generate::Options options;
  options.target = KW_TRY(arch::find_target(session.tools.verify.virtual_gpu->info().target));
  std::unique_ptr<halving::Proposer> made =
      KW_TRY(variants::builtin_proposer(*session.task, options, session.order_seed));
  return made;
}

void watch(Session& session, const halving::SearchProgress& searched, const std::string& phase) {
  SynthesisProgress& progress = session.progress;
  progress.tried = searched.tried;
  progress.rejected = searched.refused;
  progress.best_us = searched.best_us;
  progress.measured = searched.measured;
  progress.of_floor =
      searched.best_us > 0 && searched.floor_us > 0 ? searched.floor_us / searched.best_us : 0;
  progress.eta_seconds.reset();
  if (phase == "screening" || phase == "measuring")
    progress.eta_seconds = std::max(0.0, session.request.seconds - searched.seconds);
  Json state = Json::object();
  state.set("phase", phase).set("tried", static_cast<int64_t>(searched.tried));
  state.set("best_us", searched.best_us).set("seconds", searched.seconds);
  // A full disk appears at the next important write.
  const Status kept = session.run->checkpoint(state);
  if (!kept) session.report.notes.push_back(kept.error().message);
  report_progress(session, phase, "");
}

}  // namespace

judge::JudgeRequest judge_request(const Session& session) {
  const SynthesizeRequest& request = session.request;
  judge::JudgeRequest ask;
  ask.task = &*session.task;
  ask.verify = verify_request(request);
  ask.torch_modes = request.baselines;
  ask.quick = request.quick;
  ask.host_time = priority(session) == "latency";
  ask.all_shapes = priority(session) == "balanced";
  ask.calibration = &session.calibration;
  return ask;
}

Status open_judge(Session& session) {
  const auto notice = [&session](const std::string& what) {
    report_progress(session, session.progress.stage, what);
  };
  session.judge =
      KW_TRY(judge::LocalJudge::make(judge_request(session), *session.lanes, *session.run, notice));
  restore_archive(session);
  return Done{};
}

halving::Options search_options(Session& session) {
  const SynthesizeRequest& request = session.request;
  const bool has_clock = session.judge->has_clock();
  halving::Options options;
  const double begin = seconds(session);
  options.seconds = [&session, begin] { return seconds(session) - begin; };
  options.floor_us = session.judge->rank_floor_us();
  options.lane = 4 * session.lanes->all().size();
  options.batch = has_clock ? 2 * options.lane : 6;
  options.by_estimate = request.verifiers;
  options.rules.push_back(halving::stop_at_goal(request.goal));
  options.rules.push_back(halving::stop_after_seconds(request.seconds));
  const size_t most = request.candidates > 0 ? request.candidates : has_clock ? 0 : kGuesses;
  if (most > 0) options.rules.push_back(halving::stop_after_candidates(most));
  if (most > 0) options.batch = std::min(options.batch, most);
  if (has_clock) options.rules.push_back(halving::stop_at_plateau(kPlateauLooks));
  options.watch = [&session](const halving::SearchProgress& searched, halving::Phase phase) {
    if (phase == halving::Phase::Certify && session.certifications++ == 0)
      session.certify_begin = seconds(session);
    watch(session, searched, halving::phase_name(phase));
  };
  return options;
}

Status search(Session& session) {
  KW_TRY(open_judge(session));
  session.proposer = KW_TRY(make_proposer(session));
  if (session.request.proposer == "llm") return Done{};
  halving::Options options = search_options(session);
  if (session.models) options.certifications = 0;  // the winner may come later
  session.outcome =
      KW_TRY(halving::run(*session.proposer, *session.judge, session.archive, options));
  session.search_end = seconds(session);
  return Done{};
}

}  // namespace kw::workflows
