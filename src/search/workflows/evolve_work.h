// What a synthesis holds while it is an evolution. Internal to synthesis.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evolve/evolution.h"
#include "evolve/state.h"
#include "review/soft_verify.h"
#include "store/run.h"
#include "workflows/evolve.h"
#include "workflows/evolve_judge.h"
#include "workflows/evolve_propose.h"

namespace kw::workflows {

/// The state after the events of earlier sessions.
evolve::State evolved_so_far(const store::Run& run);

struct EvolveWork {
  evolve::Settings settings;
  evolve::State state;
  std::unique_ptr<TaskDesigns> designs;
  std::unique_ptr<evolve::Mutator> breeder;
  std::unique_ptr<ExplainingJudge> explaining;
  std::unique_ptr<EvolveJudge> judge;
  std::unique_ptr<evolve::Verifier> verifier;
  std::unique_ptr<review::Readers>
      readers;  // reviewers of what the verifier let through; may be null
  std::unique_ptr<EvolveProposer> proposer;  // last: its threads use the others
  std::string stopped;
  std::vector<UnseenShape> unseen;
};

/// Shapes that differ from the tuned one and that the reference accepts: up to two of the task's
/// other benchmark shapes, then one dim changed at a time, in turn smaller, larger (with limited
/// bytes) and odd.
std::vector<task::Dims> unseen_shapes(const task::Task& task, const task::Dims& tuned, size_t most);

}  // namespace kw::workflows
