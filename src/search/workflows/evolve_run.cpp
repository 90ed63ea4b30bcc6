// An evolution needs parts of this machine: designs, a breeder, a judge, reviewers, models, a
// journal. This file opens them, runs evolve/ with them and certifies the result. Events go to the
// run folder, so a resumed run continues from them. Without a clock the simplest kernel among the
// best is certified first, because estimates cannot order close kernels; if it is refused, the next
// one is tried, at most eight. With a clock those near the best are raced first. Certifying only
// the best was the alternative; one refusal would then lose the whole run.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "evolve/compare.h"
#include "os/interrupt.h"
#include "variants/builtin.h"
#include "workflows/evolve_work.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

constexpr size_t kMostCertified = 8;  // certifications tried at most

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

}  // namespace

evolve::State evolved_so_far(const store::Run& run) {
  const auto find = [&run](const std::string& id) -> std::optional<record::Candidate> {
    Result<record::Candidate> kept = run.candidate(id);
    return kept ? std::optional(std::move(kept).value()) : std::nullopt;
  };
  evolve::State state;
  for (const record::Event& event : run.events()) {
    if (event.kind == evolve::kEvolveEvent) state.apply(event.data, find);
  }
  return state;
}

// The ensemble that the user typed, or the default model at three efforts.
Status Synthesis::open_ensemble() {
  std::vector<std::string>& arms = request_.evolve->ensemble;
  if (arms.empty()) {
    const std::string model = work_->session->plan().model(stages::Stage::Performance).text();
    for (const char* effort : {"low", "medium", "high"}) arms.push_back(model + ":" + effort);
  }
  std::vector<llm::ModelId> models;
  for (const std::string& arm : arms) {
    const std::string model = KW_TRY(evolve::parse_ensemble_lines(arm)).front().model;
    models.push_back(KW_TRY(llm::parse_model_id(model, work_->session->client().config())));
  }
  work_->session->ask_these(std::move(models));
  return Done{};
}

Result<std::optional<EvolveTalk>> Synthesis::evolve_talk() {
  if (!work_) return std::optional<EvolveTalk>();
  EvolveTalk talk;
  talk.session = work_->session.get();
  talk.journal = work_->journal.get();
  talk.brief = brief();
  talk.brief.built_in.reset();
  for (const std::string& arm : request_.evolve->ensemble)
    talk.arms.push_back(KW_TRY(evolve::parse_ensemble_lines(arm)).front());
  if (request_.evolve->shape_info) talk.shapes = shapes_told(*task_);
  if (request_.evolve->profile_feedback)
    talk.evidence = [this](const record::Candidate& one) {
      return evolving_->explaining->explain(one);
    };
  progress_.notice = work_->session->terms();
  report_progress(progress_.stage, progress_.detail);
  progress_.notice.clear();
  work_->terms_told = true;
  return std::optional(std::move(talk));
}

evolve::Settings Synthesis::evolve_settings() const {
  const EvolveRequest& asked = *request_.evolve;
  evolve::Settings settings;
  settings.generations = static_cast<int>(asked.generations);
  settings.proposals = static_cast<int>(asked.proposals);
  settings.hardware = static_cast<int>(asked.hardware);
  settings.islands = static_cast<int>(asked.islands);
  settings.in_flight = static_cast<int>(asked.in_flight);
  settings.authors = authors_of(work_ ? work_->proposer : "builtin");
  settings.mode = mode_of(asked.mode);
  settings.seed = order_seed_;
  settings.has_clock = judge_->has_clock();
  settings.verifier = evolve_verifier().name();
  if (!work_) return settings;
  for (const std::string& arm : asked.ensemble)
    settings.arms.push_back(evolve::parse_ensemble_lines(arm)->front().name());
  return settings;
}

evolve::Verifier& Synthesis::evolve_verifier() const {
  return evolving_->readers ? evolving_->readers->verifier() : *evolving_->verifier;
}

Status Synthesis::open_evolution() {
  evolving_ = std::make_unique<EvolveWork>();
  EvolveWork& work = *evolving_;
  work.state = evolved_so_far(*run_);
  generate::Options options;
  options.target = KW_TRY(arch::find_target(tools_.verify.virtual_gpu->info().target));
  work.designs = KW_TRY(TaskDesigns::make(*task_, options));
  work.breeder = std::make_unique<evolve::Mutator>(*work.designs, order_seed_);
  work.explaining = std::make_unique<ExplainingJudge>(
      *judge_, archive_, calibration_,
      std::vector<std::pair<std::string, std::string>>{{run_->folder(), "run"},
                                                       {request_.reference, "reference.py"}});
  work.judge = std::make_unique<EvolveJudge>(*judge_, *work.explaining, archive_,
                                             request_.evolve->profile_feedback);
  if (request_.evolve->verifiers)
    work.verifier = std::make_unique<evolve::MechanicalVerifier>(*work.judge);
  else
    work.verifier = std::make_unique<evolve::NoVerifier>();
  if (!request_.evolve->readers.model.empty()) {
    review::ReadersRequest readers{request_.evolve->readers, request_.models, reference_text_,
                                   order_seed_};
    work.readers = KW_TRY(review::Readers::open(readers, *work.verifier, *run_,
                                                work_ ? work_->session.get() : nullptr,
                                                work_ ? work_->journal.get() : nullptr));
  }
  work.proposer = std::make_unique<EvolveProposer>(*work.breeder, KW_TRY(evolve_talk()));
  work.settings = evolve_settings();
  return Done{};
}

void Synthesis::watch_evolution(const evolve::State& state, const std::string& what) {
  const evolve::Entry* best = state.archive().best();
  progress_.tried = state.archive().entries().size();
  progress_.rejected = static_cast<size_t>(std::ranges::count_if(
      state.archive().entries(), [](const evolve::Entry& entry) { return !entry.alive(); }));
  progress_.best_us = best == nullptr ? 0 : best->outcome.us;
  progress_.measured = best != nullptr && best->outcome.measured;
  const double floor = judge_->rank_floor_us();
  progress_.of_floor = best != nullptr && floor > 0 ? floor / best->outcome.us : 0;
  report_progress(progress_.stage, what);
}

Status Synthesis::evolve() {
  KW_TRY(make_judge());
  restore_archive();
  KW_TRY(open_evolution());
  EvolveWork& work = *evolving_;
  evolve::Ports ports;
  ports.proposer = work.proposer.get();
  ports.verifier = &evolve_verifier();
  ports.judge = work.judge.get();
  ports.journal = &*run_;
  ports.find = [this](const std::string& id) { return known_candidate(id); };
  const double begin = seconds();
  ports.seconds = [this, begin] { return seconds() - begin; };
  ports.watch = [this](const evolve::State& state, const std::string& what) {
    watch_evolution(state, what);
  };
  if (request_.seconds > 0) {
    const auto over = [this, begin] { return seconds() - begin >= request_.seconds; };
    if (work_) work_->session->ask_until(over);
    if (work.readers) work.readers->ask_until(over);
  }
  evolve::Limits limits;
  limits.seconds = request_.seconds;
  limits.goal_us = request_.goal > 0 ? judge_->rank_floor_us() / request_.goal : 0;
  const Result<std::string> why =
      evolve::Evolution(work.settings, limits, std::move(ports), work.state).run();
  if (work_) {
    for (const stages::Attempt& attempt : work.proposer->attempts())
      work_->attempts.push_back(attempt);
    // A failure of a model ends the run only if no model is left.
    if (work.state.models().all_gone()) work_->provider = work.proposer->failure();
  }
  for (const std::string& change : work.state.changes())
    report_.notes.push_back("this run went on otherwise than it began: " + change);
  for (const std::string& problem : work.breeder->problems())
    report_.warnings.push_back("a design could not be written: " + problem);
  if (!why) {
    // Record what was spent, for every kind of end.
    const Status settled = work.proposer->settle();
    if (!settled) report_.warnings.push_back(settled.error().message);
    return why.error();
  }
  work.stopped = *why;
  search_end_ = seconds();
  return Done{};
}

// Without a clock the simplest of the best comes first. With one, those near the best are raced.
Status Synthesis::certify_evolved() {
  halving::SearchResult outcome;
  if (judge_->has_clock()) {
    halving::Options options = search_options(true);
    options.rules.clear();
    options.rules.push_back(halving::stop_after_seconds(0));
    const std::unique_ptr<halving::Proposer> none = variants::no_proposer();
    outcome = KW_TRY(halving::run(*none, *judge_, archive_, options));
  } else {
    std::vector<const evolve::Entry*> order = evolving_->state.archive().ranked();
    const evolve::Entry* plain = evolving_->state.archive().simplest_best();
    std::ranges::stable_partition(order, [&](const evolve::Entry* one) { return one == plain; });
    certify_begin_ = seconds();
    for (size_t i = 0; i < order.size() && i < kMostCertified && !outcome.winner; ++i) {
      ++certifications_;
      const ports::Outcome look = KW_TRY(judge_->certify(order[i]->candidate));
      halving::Entry& entry = archive_.at(order[i]->candidate.id);
      entry.outcome.refused = look.refused;
      entry.certified = look.refused.empty();
      if (entry.certified) outcome.winner = order[i]->candidate.id;
    }
    for (const halving::Entry* entry : archive_.ranked()) {
      if (entry->candidate.id != outcome.winner) outcome.kept.push_back(entry->candidate.id);
    }
  }
  outcome.stopped = evolving_->stopped;
  outcome.seconds = search_end_;
  outcome.measured = static_cast<size_t>(
      std::ranges::count_if(evolving_->state.archive().entries(), &evolve::Entry::judged));
  outcome_ = std::move(outcome);
  return Done{};
}

void Synthesis::conclude_evolution() {
  if (!outcome_ || !report_.failed_stage.empty()) return;
  report_.passed = outcome_->winner.has_value();
  if (report_.passed) return;
  report_.failed_stage = "evolve";
  report_.failure_reason = evolving_->stopped;
  if (work_ && work_->provider) {
    report_.error_blame = static_cast<int>(work_->provider->blame());
    return;
  }
  const std::vector<std::string>& unusable = evolving_->proposer->unusable();
  if (archive_.entries().empty() && !unusable.empty())
    report_.failure_reason = fmt::format("{}, and none of {} answers could be used; the last: {}",
                                         evolving_->stopped, unusable.size(), unusable.back());
  for (const halving::Entry& entry : archive_.entries()) {
    if (entry.alive()) continue;
    report_.failure_reason = fmt::format("none of {} candidates passed; the last: {}",
                                         archive_.entries().size(), entry.outcome.refused);
  }
  const auto doubted = std::ranges::count_if(evolving_->state.archive().entries(),
                                             [](const evolve::Entry& one) { return one.doubted; });
  if (doubted > 0)
    report_.failure_reason += fmt::format(
        "; {} were never judged, because readers refused them (--verifier-reject)", doubted);
}

Json Synthesis::evolution_json() const {
  if (!evolving_) return Json();
  Json json = evolve::summary(evolving_->settings, evolving_->state, evolving_->stopped);
  const EvolveRequest& asked = *request_.evolve;
  json.set("verifiers", asked.verifiers).set("shape_info", asked.shape_info);
  json.set("profile_feedback", asked.profile_feedback);
  if (!asked.readers.model.empty()) json.set("readers", review::scoreboard_of(*run_).json());
  json.set("unseen_baseline", "the first generated kernel");
  Json unseen = Json::array();
  for (const UnseenShape& shape : evolving_->unseen) unseen.push(to_json(shape));
  json.set("unseen_shapes", std::move(unseen));
  Json changes = Json::array();
  for (const std::string& change : evolving_->state.changes()) changes.push(change);
  return json.set("changes", std::move(changes));
}

}  // namespace kw::workflows
