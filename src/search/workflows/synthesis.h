// One synthesis in progress: the steps of synthesize.h as methods of one object. Internal.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evolve/state.h"
#include "halving/search.h"
#include "judge/judge.h"
#include "llm/config.h"
#include "llm/provider.h"
#include "reference/prompt.h"
#include "stages/stages.h"
#include "store/run.h"
#include "task/task.h"
#include "timing/bench_tools.h"
#include "timing/lanes.h"
#include "torch_worker/torch_process.h"
#include "workflows/synthesize.h"

namespace kw::workflows {

struct EvolveTalk;
struct EvolveWork;
struct ModelWork;

inline constexpr uint64_t kMostReferenceBytes = uint64_t{1} << 20;

/// One stage for stage_traces.
struct StageTrace {
  std::string name;
  size_t attempts = 0;
  bool succeeded = false;
  double seconds = 0;
};

class Synthesis {
 public:
  Synthesis(SynthesizeRequest request, const SynthesisWatcher& watcher);
  ~Synthesis();

  Result<SynthesisReport> run();
  Result<SynthesisReport> resume(const ContinueRequest& how);

 private:
  using Step = Status (Synthesis::*)();
  // The steps, in order.
  Status read_reference();
  Status open_machine();
  Status search();
  judge::JudgeRequest judge_request() const;
  Status make_judge();
  void conclude();
  Result<SynthesisReport> tell_the_rest();
  Status apply_elements();
  Status apply_prompt();
  Status apply_precision();
  /// Sorts the benchmark shapes by the priority.
  void order_shapes(const std::string& priority);
  /// "latency", "throughput", "balanced", or "" when not given.
  std::string priority() const;
  /// Runs one step with its trace. Its Error becomes the failure in the report.
  bool step(const char* name, Step method);
  void fail(const std::string& stage, const Error& error);
  Status guarded(Step method);
  Status create_run();
  Status check_unchanged(const store::RunInputs& inputs, const ContinueRequest& how);
  Status compare_reference(const store::RunInputs& inputs, const std::string& path) const;
  Status check_spec(const store::RunInputs& inputs);
  void restore_archive();
  Result<std::unique_ptr<halving::Proposer>> make_proposer();
  halving::Options search_options(bool has_clock);
  void watch(const halving::SearchProgress& standing, const std::string& phase);
  void report_progress(const std::string& stage, const std::string& detail);
  Result<SynthesisReport> finish();
  double seconds() const;
  Json config_json() const;
  Json env_json() const;

  // With models (synthesis_models.cpp).
  Status open_models();
  Status restore_models(const Json& spec);
  void warn_of_damage();
  llm::Outcome ask_model(const llm::ModelId& id, const llm::Request& request);
  Status ask_what_is_open(const std::string& known, std::vector<std::string> open,
                          std::vector<std::string>* inputs);
  Result<std::vector<std::string>> inputs_from_model(const std::string& problem);
  Status interview();
  stages::StageInput brief() const;
  stages::StageProgress standing() const;
  std::optional<record::Candidate> known_candidate(const std::string& id) const;
  Status open_readers();
  Status talk();
  void talk_step();
  std::unique_ptr<halving::Proposer> tuner() const;
  Status certify_models();
  Result<std::optional<record::Candidate>> annotated(const halving::Entry& winner);
  Result<std::string> certify_annotated(const record::Candidate& made, const halving::Entry& winner,
                                        const judge::Certificate& plain);
  Result<std::string> slower_than(const halving::Entry& winner, const record::Candidate& made,
                                  const judge::Certificate& plain);
  Status polish();
  void polish_step();

  // As an evolution (evolve_run.cpp, evolve_shapes.cpp).
  Status open_ensemble();
  Result<std::optional<EvolveTalk>> evolve_talk();
  evolve::Settings evolve_settings() const;
  evolve::Verifier& evolve_verifier() const;
  Status open_evolution();
  void watch_evolution(const evolve::State& state, const std::string& what);
  Status evolve();
  Status certify_evolved();
  void conclude_evolution();
  Result<record::Candidate> first_generated() const;
  Status try_unseen();
  void generalise();
  Json evolution_json() const;

  // The report (synthesis_report.cpp).
  void fill_report();
  void fill_performance();
  Json document() const;
  Json correctness_json() const;
  Json performance_json() const;
  Json ranking_json(const std::string& id) const;
  std::string ranking_note() const;
  Json prompt_json() const;
  Json candidates_json() const;
  Json trace_json(const StageTrace& trace) const;
  Json models_json() const;
  void fill_models();
  Status show_outcome();
  StageTrace* trace(const std::string& name);
  std::string readme() const;
  store::FinalFiles final_files() const;

  SynthesizeRequest request_;
  const SynthesisWatcher& watcher_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::shared_ptr<torch_worker::TorchProcess> torch_;
  std::string reference_text_;
  std::string kept_name_;  // of the task, when the run's copy of the reference is read
  reference::PromptReading prompt_;
  std::optional<task::Task> task_;
  uint64_t order_seed_ = 0;
  std::shared_ptr<timing::BenchMachine> machine_;
  timing::BenchTools tools_;
  std::unique_ptr<timing::Lanes> lanes_;
  record::Calibration calibration_;
  std::optional<store::Run> run_;
  halving::Archive archive_;
  std::unique_ptr<halving::Proposer> proposer_;
  std::unique_ptr<judge::LocalJudge> judge_;
  std::optional<halving::SearchResult> outcome_;
  std::unique_ptr<ModelWork> work_;  // null: no model is asked
  std::unique_ptr<EvolveWork> evolving_;
  Json past_models_;  // models in the report of an earlier session
  bool only_measure_ = false;
  std::vector<StageTrace> traces_;
  size_t certifications_ = 0;
  double certify_begin_ = 0;  // when the first of them started
  double search_end_ = 0;
  SynthesisProgress progress_;
  SynthesisReport report_;
};

/// A request as config.json stores it, and the inverse.
Json request_to_json(const SynthesizeRequest& request);
SynthesizeRequest request_from_json(const Json& json);

}  // namespace kw::workflows
