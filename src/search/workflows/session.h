// One synthesis in progress: the state that the steps of synthesis_steps.h read and change.
// Internal.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evolve/evolution.h"
#include "evolve/evolution_state.h"
#include "halving/search.h"
#include "judge/judge.h"
#include "reference/load_reference.h"
#include "reference/prompt.h"
#include "review/reviewed_judge.h"
#include "review/soft_verify.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/spec.h"
#include "stages/stages.h"
#include "store/run.h"
#include "task/task.h"
#include "timing/bench_tools.h"
#include "timing/lanes.h"
#include "workflows/evolve_judge.h"
#include "workflows/evolve_propose.h"
#include "workflows/explaining_judge.h"
#include "workflows/synthesize.h"

namespace kw::workflows {

/// One stage for stage_traces.
struct StageTrace {
  std::string name;
  size_t attempts = 0;
  bool succeeded = false;
  double seconds = 0;
};

/// The models of a synthesis and what they gave.
struct ModelWork {
  std::unique_ptr<stages::ModelSession> session;
  std::unique_ptr<stages::RunJournal> journal;
  std::unique_ptr<ExplainingJudge> judge;
  evolve::NoVerifier no_verifier;  // the reviewers' verifier; it lets everything pass
  /// Review modules before the judge; may be null.
  std::unique_ptr<review::ModelReviewers> reviewers;
  std::unique_ptr<review::ReviewedJudge> reviewed_judge;  // the judge with reviewers; null without
  std::unique_ptr<stages::Stages> stages;
  std::string interface, target;
  std::string priority, notes;  // added by the model of the interview
  stages::KernelSpec spec;
  std::optional<stages::KernelSpec> frozen;  // of the session that started the run
  std::vector<stages::Attempt> attempts;     // of the interview and of earlier sessions
  std::optional<llm::Failure> provider;      // that failed; no model is asked after it
  std::optional<stages::StageHistory> history;
  std::string stage;        // in progress now
  std::string why_not;      // why the stages gave no kernel
  std::string why_no_talk;  // why no model was asked
  bool polished = false;
  std::string why_not_polished;  // "" before a try
  bool terms_told = false;
};

/// An evolution in progress and its result.
struct EvolveWork {
  evolve::Settings settings;
  evolve::State state;
  std::unique_ptr<TaskDesigns> designs;
  std::unique_ptr<evolve::Mutator> mutator;
  std::unique_ptr<ExplainingJudge> explaining;
  std::unique_ptr<EvolveJudge> judge;
  std::unique_ptr<evolve::Verifier> verifier;
  /// Review proposals that the verifier accepted; may be null.
  std::unique_ptr<review::ModelReviewers> reviewers;
  std::unique_ptr<EvolveAuthor> proposer;  // last: its threads use the others
  std::string stopped;
  std::vector<UnseenShape> unseen;
};

/// Later members borrow earlier ones. Steps borrow the session, so it never moves.
struct Session {
  // What was asked.
  SynthesizeRequest request;
  bool only_measure = false;   // `tune`: no new candidates
  uint64_t order_seed = 0;     // of the order of proposals
  std::string reference_text;  // as the run stores it
  reference::PromptReading prompt;
  std::optional<task::Task> task;

  // What a resumed run stored.
  std::optional<store::RunInputs> stored;  // not set: a new run
  std::string kept_name;  // of the task, when the run's copy of the reference is read
  Json past_models;       // models in the report of an earlier session

  // Progress and result.
  SynthesisWatcher watcher;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  SynthesisProgress progress;
  std::vector<StageTrace> traces;
  size_t certifications = 0;
  double certify_begin = 0;  // when the first of them started
  double search_end = 0;
  SynthesisReport report;

  // The machine.
  std::shared_ptr<torch_worker::TorchProcess> torch = reference::open_torch();
  std::shared_ptr<timing::BenchMachine> machine;
  timing::BenchTools tools;
  std::unique_ptr<timing::Lanes> lanes;
  record::Calibration calibration;

  // The run folder, the archive and the judge.
  std::optional<store::Run> run;
  archive::Archive archive;
  std::unique_ptr<halving::Proposer> proposer;
  std::unique_ptr<judge::LocalJudge> judge;
  std::optional<halving::SearchResult> outcome;

  std::unique_ptr<ModelWork> models;      // null: no model is asked
  std::unique_ptr<EvolveWork> evolution;  // null: not an evolution, or not begun

  Session() = default;
  Session(const Session&) = delete;
};

double seconds(const Session& session);  // since the start
bool has_failed(const Session& session);
void report_progress(Session& session, const std::string& stage, const std::string& detail);
void fail(Session& session, const std::string& stage, const Error& error);
/// A bug of ours in a step becomes an Error: it ends the job, not the process.
Status guarded(Session& session, Status (*step)(Session&));
/// The same, with a trace.
Status traced(Session& session, const char* name, Status (*step)(Session&));
/// "latency", "throughput", "balanced", or "" when not given.
std::string priority(const Session& session);
/// The GPU, or the virtual one when there is none.
const ports::Device& device_of(const Session& session);

}  // namespace kw::workflows
