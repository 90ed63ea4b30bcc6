// Models can write kernels that code generation cannot, but they cost money and may fail at any
// time. So they run after the built-in search, and only if that missed the goal (hybrid) or was not
// requested (llm). Three steps use them: the interview about an unclear prompt, talk, which writes
// a kernel, and polish, which adds comments. Everything they write goes through the same judge.
// Each call goes through answers_of(), which reports terms and failures. After a provider's failure
// no model is asked, and the run continues with what it has.
#include <fmt/core.h>

#include "evolve/ensemble.h"
#include "llm/config.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

// The ensemble that the user typed, or the default model at three efforts.
Status open_ensemble(stages::ModelSession& models, std::vector<std::string>& arms) {
  if (arms.empty()) {
    const std::string model = models.plan().model(stages::Stage::Performance).text();
    for (const char* effort : {"low", "medium", "high"}) arms.push_back(model + ":" + effort);
  }
  std::vector<llm::ModelId> asked;
  for (const std::string& arm : arms) {
    const std::string model = KW_TRY(evolve::parse_ensemble_lines(arm)).front().model;
    asked.push_back(KW_TRY(llm::parse_model_id(model, models.client().config())));
  }
  models.ask_these(std::move(asked));
  return Done{};
}

}  // namespace

Status open_models(Session& session) {
  SynthesizeRequest& request = session.request;
  std::vector<std::string>& warnings = session.report.warnings;
  // For every proposer: worker processes do not need the keys.
  if (const auto config = llm::load_config()) stages::hide_keys(*config);
  std::string warning;
  request.proposer = KW_TRY(stages::resolve_proposer(request.proposer, request.models, &warning));
  if (!warning.empty()) warnings.push_back(warning);
  if (request.proposer == "builtin") {
    if (!request.reviewers.model.empty())
      warnings.push_back(
          "--verifier-model has no effect with --proposer builtin: no model writes kernels");
    return Done{};
  }
  if (request.models.budget_usd && !(*request.models.budget_usd >= 0))
    return input_error("--budget must be dollars, 0 or more");
  session.models = std::make_unique<ModelWork>();
  ModelWork& work = *session.models;
  work.session = KW_TRY(stages::ModelSession::open(request.models, session.order_seed));
  work.journal = std::make_unique<stages::RunJournal>(*work.session, request.models.transcripts);
  KW_TRY(review::check_reviewer_model(request.reviewers, *work.session));
  if (request.evolve) KW_TRY(open_ensemble(*work.session, request.evolve->ensemble));
  return Done{};
}

void report_terms(Session& session) {
  session.models->terms_told = true;
  session.progress.notice = session.models->session->terms();
  report_progress(session, session.progress.stage, session.progress.detail);
  session.progress.notice.clear();
}

stages::Answer answers_of(Session& session) {
  return [&session](const llm::ModelId& id, const llm::Request& request) {
    if (!session.models->terms_told) report_terms(session);
    llm::Watch watch;
    watch.on_text = [&session, &id, bytes = size_t{0}](std::string_view text) mutable {
      bytes += text.size();
      report_progress(session, session.progress.stage,
                      fmt::format("{} answers, {} bytes so far", id.text(), bytes));
    };
    llm::Outcome outcome = session.models->session->answer(id, request, watch);
    if (!outcome) session.models->provider = outcome.failure();
    return outcome;
  };
}

std::unique_ptr<ExplainingJudge> explaining_judge(Session& session) {
  std::vector<std::pair<std::string, std::string>> private_paths = {
      {session.run->folder(), "run"}, {session.request.reference, "reference.py"}};
  return std::make_unique<ExplainingJudge>(*session.judge, session.archive, session.calibration,
                                           std::move(private_paths));
}

Result<std::unique_ptr<review::ModelReviewers>> open_reviewers(
    Session& session, const review::SoftVerifyOptions& options, evolve::Verifier& verifier) {
  if (options.model.empty()) return std::unique_ptr<review::ModelReviewers>();
  ModelWork* work = session.models.get();
  return review::ModelReviewers::open(
      {options, session.request.models, session.reference_text, session.order_seed}, verifier,
      *session.run, work ? work->session.get() : nullptr, work ? work->journal.get() : nullptr);
}

}  // namespace kw::workflows
