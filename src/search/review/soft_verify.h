// Readers before hardware: what a compiler and the virtual GPU let through is put before language
// models, whose votes order candidates and, where that is allowed, keep some from being judged.
// Every opinion is an event of the run, and is held against the judge's verdicts afterwards.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "evolve/ports.h"
#include "review/scoreboard.h"
#include "review/soft_options.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/ports.h"
#include "store/run.h"

namespace kw::review {

struct ReadersRequest {
  SoftVerifyOptions options;
  stages::ModelOptions models;  // budget and cassettes
  std::string reference;        // source of what must be computed
  uint64_t seed = 0;
};

class Readers {
 public:
  /// `first` decides what readers are asked about at all. With a session and its journal they are
  /// part of that, else they have their own, whose calls are events of the run too. Borrows all but
  /// the request. Errors: the model, its key, the folder of prompts.
  static Result<std::unique_ptr<Readers>> open(const ReadersRequest& request,
                                               evolve::Verifier& first, store::Run& run,
                                               stages::ModelSession* session,
                                               stages::Journal* journal);

  evolve::Verifier& verifier() { return *verifier_; }
  /// As of ModelSession, where they have one of their own.
  void ask_until(std::function<bool()> over) {
    if (session_) session_->ask_until(std::move(over));
  }

 private:
  std::unique_ptr<stages::ModelSession> session_;
  std::unique_ptr<stages::RunJournal> journal_;
  std::unique_ptr<evolve::Verifier> verifier_;
};

/// Whether they could be asked: the model, its key, the folder of prompts. An input Error says what
/// is wrong.
Status check_reader_model(const SoftVerifyOptions& options, stages::ModelSession& session);

/// Opinions of all sessions of a run against its verdicts.
Scoreboard scoreboard_of(const store::Run& run);

}  // namespace kw::review
