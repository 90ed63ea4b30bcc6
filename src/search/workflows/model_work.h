// What a synthesis holds while language models work for it. Internal to synthesis.h's story.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model_bench.h"
#include "engine/model_journal.h"
#include "engine/model_session.h"
#include "engine/read_bench.h"
#include "engine/soft_verify.h"
#include "stages/spec.h"
#include "stages/stages.h"

namespace kw::engine {

struct ModelWork {
  std::unique_ptr<ModelSession> session;
  std::unique_ptr<RunJournal> journal;
  std::unique_ptr<JudgeBench> bench;
  evolve::NoVerifier nobody;           // in front of the readers: the gate looks for itself
  std::unique_ptr<Readers> readers;    // who read modules before they are judged; may be null
  std::unique_ptr<ReadBench> reading;  // the bench with them; null without
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

}  // namespace kw::engine
