// What a synthesis holds while language models work for it. Internal to synthesis.h's story.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "review/read_bench.h"
#include "review/soft_verify.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/spec.h"
#include "stages/stages.h"
#include "workflows/model_bench.h"

namespace kw::workflows {

struct ModelWork {
  std::unique_ptr<stages::ModelSession> session;
  std::unique_ptr<stages::RunJournal> journal;
  std::unique_ptr<ExplainingJudge> judge;
  evolve::NoVerifier nobody;                 // in front of the readers: the gate looks for itself
  std::unique_ptr<review::Readers> readers;  // who read modules before they are judged; may be null
  std::unique_ptr<review::ReviewedJudge> reading;  // the judge with them; null without
  std::unique_ptr<stages::Stages> stages;
  std::string proposer;  // "llm" or "hybrid"
  std::string interface, target;
  std::string priority, notes;  // what the interview's model added
  stages::KernelSpec spec;
  std::optional<stages::KernelSpec> frozen;  // of the session that began the run
  std::vector<stages::Attempt> attempts;     // of the interview and of earlier sessions
  std::optional<llm::Failure> provider;      // that failed; nobody is asked after it
  std::optional<stages::Story> story;
  std::string stage;        // at work now
  std::string why_not;      // why the stages came to nothing
  std::string why_no_talk;  // why nobody was asked
  bool polished = false;
  std::string why_not_polished;  // "" while nobody tried
  bool terms_told = false;
};

}  // namespace kw::workflows
