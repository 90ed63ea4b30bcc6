// What a synthesis holds while models work for it. Internal to synthesis.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "review/reviewed_judge.h"
#include "review/soft_verify.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/spec.h"
#include "stages/stages.h"
#include "workflows/explaining_judge.h"

namespace kw::workflows {

struct ModelWork {
  std::unique_ptr<stages::ModelSession> session;
  std::unique_ptr<stages::RunJournal> journal;
  std::unique_ptr<ExplainingJudge> judge;
  evolve::NoVerifier nobody;                 // the reviewers' verifier; it lets everything pass
  std::unique_ptr<review::Readers> readers;  // reviewers of modules before the judge; may be null
  std::unique_ptr<review::ReviewedJudge> reading;  // the judge with reviewers; null without
  std::unique_ptr<stages::Stages> stages;
  std::string proposer;  // "llm" or "hybrid"
  std::string interface, target;
  std::string priority, notes;  // added by the model of the interview
  stages::KernelSpec spec;
  std::optional<stages::KernelSpec> frozen;  // of the session that started the run
  std::vector<stages::Attempt> attempts;     // of the interview and of earlier sessions
  std::optional<llm::Failure> provider;      // that failed; no model is asked after it
  std::optional<stages::StageHistory> story;
  std::string stage;        // in progress now
  std::string why_not;      // why the stages gave no kernel
  std::string why_no_talk;  // why no model was asked
  bool polished = false;
  std::string why_not_polished;  // "" before a try
  bool terms_told = false;
};

}  // namespace kw::workflows
