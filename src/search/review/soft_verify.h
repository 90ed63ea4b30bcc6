// Reviewers before hardware: models vote on candidates that the compiler and the virtual GPU
// accept. The votes order the candidates and, if allowed, reject some before the judge. Every
// opinion is an event of the run and is later compared with the judge's verdict.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "evolve/evolve_ports.h"
#include "review/scoreboard.h"
#include "review/soft_options.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/stage_ports.h"
#include "store/run.h"

namespace kw::review {

struct ModelReviewersRequest {
  SoftVerifyOptions options;
  stages::ModelOptions models;  // budget and cassettes
  std::string reference;        // source of what must be computed
  uint64_t seed = 0;
};

class ModelReviewers {
 public:
  /// `first` decides which candidates are reviewed. The reviewers use the given session and
  /// journal; without these they have their own, whose calls are also events of the run. Borrows
  /// all but the request. Errors: the model, its key, the folder of prompts.
  static Result<std::unique_ptr<ModelReviewers>> open(const ModelReviewersRequest& request,
                                                      evolve::Verifier& first, store::Run& run,
                                                      stages::ModelSession* session,
                                                      stages::Journal* journal);

  evolve::Verifier& verifier() { return *verifier_; }
  /// As ModelSession::ask_until, if the reviewers have their own session.
  void ask_until(std::function<bool()> over) {
    if (session_) session_->ask_until(std::move(over));
  }

 private:
  std::unique_ptr<stages::ModelSession> session_;
  std::unique_ptr<stages::RunJournal> journal_;
  std::unique_ptr<evolve::Verifier> verifier_;
};

/// Checks the model, its key and the folder of prompts. The input Error says what is wrong.
Status check_reviewer_model(const SoftVerifyOptions& options, stages::ModelSession& session);

/// The opinions of all sessions of a run, with its verdicts.
Scoreboard scoreboard_of(const store::Run& run);

}  // namespace kw::review
