// An evolution needs parts of this machine: designs, a mutator, a judge, reviewers, models, a
// journal. This file opens them and runs evolve/ with them. Events go to the run folder, so a
// resumed run continues from them. The state is folded from the events each time; a stored image of
// it was the alternative, but it would break with every new version. Models that still answer when
// the time is over are waited for, because what they cost must be recorded.
#include <algorithm>

#include "arch/arch.h"
#include "evolve/ensemble.h"
#include "evolve/evolution.h"
#include "workflows/run_damage.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

evolve::Authors authors_of(const std::string& proposer) {
  if (proposer == "llm") return evolve::Authors::Models;
  return proposer == "hybrid" ? evolve::Authors::Both : evolve::Authors::Builtin;
}

evolve::Mode mode_of(const std::string& word) {
  if (word == "translate") return evolve::Mode::Translate;
  return word == "optimize" ? evolve::Mode::Optimize : evolve::Mode::Auto;
}

std::string shapes_told(const task::Task& task) {
  std::string out = "Shapes to be fast at, the first one counts most:";
  for (const task::Dims& dims : task.benchmark_shapes) out += "\n- " + task::dims_text(dims);
  out += "\nShapes to be right at, among others:";
  for (const task::Dims& dims : task.correctness_shapes) out += "\n- " + task::dims_text(dims);
  return out + "\n";
}

Result<std::optional<EvolveModelInput>> evolve_talk(Session& session) {
  if (!session.models) return std::optional<EvolveModelInput>();
  const EvolveRequest& asked = *session.request.evolve;
  EvolveModelInput talk;
  talk.session = session.models->session.get();
  talk.journal = session.models->journal.get();
  talk.input = stage_input(session);
  talk.input.built_in.reset();
  for (const std::string& arm : asked.ensemble)
    talk.arms.push_back(KW_TRY(evolve::parse_ensemble_lines(arm)).front());
  if (asked.shape_info) talk.shapes = shapes_told(*session.task);
  if (asked.profile_feedback)
    talk.evidence = [&session](const record::Candidate& one) {
      return session.evolution->explaining->explain(one);
    };
  report_terms(session);
  return std::optional(std::move(talk));
}

evolve::Verifier& verifier_of(const EvolveWork& work) {
  return work.reviewers ? work.reviewers->verifier() : *work.verifier;
}

evolve::Settings evolve_settings(const Session& session) {
  const EvolveRequest& asked = *session.request.evolve;
  evolve::Settings settings;
  settings.generations = static_cast<int>(asked.generations);
  settings.proposals = static_cast<int>(asked.proposals);
  settings.hardware = static_cast<int>(asked.hardware);
  settings.islands = static_cast<int>(asked.islands);
  settings.in_flight = static_cast<int>(asked.in_flight);
  settings.authors = authors_of(session.request.proposer);
  settings.mode = mode_of(asked.mode);
  settings.seed = session.order_seed;
  settings.has_clock = session.judge->has_clock();
  settings.verifier = verifier_of(*session.evolution).name();
  if (!session.models) return settings;
  for (const std::string& arm : asked.ensemble)
    settings.arms.push_back(evolve::parse_ensemble_lines(arm)->front().name());
  return settings;
}

Status open_evolution(Session& session) {
  const EvolveRequest& asked = *session.request.evolve;
  session.evolution = std::make_unique<EvolveWork>();
  EvolveWork& work = *session.evolution;
  work.state = evolved_so_far(*session.run);
  generate::Options options;
  options.target = KW_TRY(arch::find_target(session.tools.verify.virtual_gpu->info().target));
  work.designs = KW_TRY(TaskDesigns::make(*session.task, options));
  work.mutator = std::make_unique<evolve::Mutator>(*work.designs, session.order_seed);
  work.explaining = explaining_judge(session);
  work.judge = std::make_unique<EvolveJudge>(*session.judge, *work.explaining, session.archive,
                                             asked.profile_feedback);
  if (asked.verifiers)
    work.verifier = std::make_unique<evolve::MechanicalVerifier>(*work.judge);
  else
    work.verifier = std::make_unique<evolve::NoVerifier>();
  work.reviewers = KW_TRY(open_reviewers(session, asked.reviewers, *work.verifier));
  work.proposer = std::make_unique<EvolveAuthor>(*work.mutator, KW_TRY(evolve_talk(session)));
  work.settings = evolve_settings(session);
  return Done{};
}

void watch_evolution(Session& session, const evolve::State& state, const std::string& what) {
  SynthesisProgress& progress = session.progress;
  const evolve::Entry* best = state.archive().best();
  progress.tried = state.archive().entries().size();
  progress.rejected = static_cast<size_t>(std::ranges::count_if(
      state.archive().entries(), [](const evolve::Entry& entry) { return !entry.alive(); }));
  progress.best_us = best == nullptr ? 0 : best->outcome.us;
  progress.measured = best != nullptr && best->outcome.measured;
  const double floor = session.judge->rank_floor_us();
  progress.of_floor = best != nullptr && floor > 0 ? floor / best->outcome.us : 0;
  report_progress(session, progress.stage, what);
}

evolve::Ports evolve_ports(Session& session) {
  EvolveWork& work = *session.evolution;
  evolve::Ports ports;
  ports.proposer = work.proposer.get();
  ports.verifier = &verifier_of(work);
  ports.judge = work.judge.get();
  ports.journal = &*session.run;
  ports.find = [&session](const std::string& id) { return known_candidate(session, id); };
  const double begin = seconds(session);
  ports.seconds = [&session, begin] { return seconds(session) - begin; };
  ports.watch = [&session](const evolve::State& state, const std::string& what) {
    watch_evolution(session, state, what);
  };
  if (session.request.seconds > 0) {
    const auto over = [elapsed = ports.seconds, most = session.request.seconds] {
      return elapsed() >= most;
    };
    if (session.models) session.models->session->ask_until(over);
    if (work.reviewers) work.reviewers->ask_until(over);
  }
  return ports;
}

}  // namespace

Status evolve(Session& session) {
  KW_TRY(open_judge(session));
  KW_TRY(open_evolution(session));
  EvolveWork& work = *session.evolution;
  evolve::Limits limits;
  limits.seconds = session.request.seconds;
  const double goal = session.request.goal;
  limits.goal_us = goal > 0 ? session.judge->rank_floor_us() / goal : 0;
  const Result<std::string> why =
      evolve::Evolution(work.settings, limits, evolve_ports(session), work.state).run();
  if (session.models) {
    for (const stages::Attempt& attempt : work.proposer->attempts())
      session.models->attempts.push_back(attempt);
    // A failure of a model ends the run only if no model is left.
    if (work.state.models().all_gone()) session.models->provider = work.proposer->failure();
  }
  for (const std::string& change : work.state.changes())
    session.report.notes.push_back("this run continued with other settings than it began with: " +
                                   change);
  for (const std::string& problem : work.mutator->problems())
    session.report.warnings.push_back("a design could not be written: " + problem);
  if (!why) {
    // Record what was spent, for every kind of end.
    const Status settled = work.proposer->finish_calls();
    if (!settled) session.report.warnings.push_back(settled.error().message);
    return why.error();
  }
  work.stopped = *why;
  session.search_end = seconds(session);
  return Done{};
}

}  // namespace kw::workflows
