// The proposer of an evolution: operators without a model run at once, models answer in their own
// threads. Prompts are made from the archive. Answers are read here and judged elsewhere.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evolve/ensemble.h"
#include "evolve/evolve_ports.h"
#include "evolve/mutator.h"
#include "plan/codegen.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/stages.h"
#include "task/task.h"

namespace kw::workflows {

/// The designs of code generation for a task, which must outlive them.
class TaskDesigns : public evolve::Designs {
 public:
  static Result<std::unique_ptr<TaskDesigns>> make(const task::Task& task,
                                                   const generate::Options& options);
  const std::vector<std::string>& names() const override { return names_; }
  Result<std::string> text(const std::string& name, bool switches) override;

 private:
  TaskDesigns(const task::Task& task, generate::Options options)
      : task_(task), options_(std::move(options)) {}
  const task::Task& task_;
  generate::Options options_;
  std::vector<std::string> names_;
};

/// The input of models in addition to the task.
struct EvolveModelInput {
  stages::ModelSession* session = nullptr;
  stages::RunJournal* journal = nullptr;
  stages::StageInput input;
  std::vector<evolve::Arm> arms;
  std::string shapes;  // "" when shapes are not shown
  /// What limits a candidate, as text; empty when it is not shown.
  std::function<std::string(const record::Candidate&)> evidence;
};

class EvolveAuthor : public evolve::Author {
 public:
  /// Without this input no model is asked.
  EvolveAuthor(evolve::Mutator& mutator, std::optional<EvolveModelInput> models)
      : mutator_(mutator), models_(std::move(models)) {}
  /// Waits for models that still answer.
  ~EvolveAuthor() override;

  Status begin(const evolve::ProposalRequest& request, const evolve::Population& archive) override;
  Result<evolve::Proposal> finish(const evolve::ProposalRequest& request) override;
  /// When an evolution ends early: waits for calls in progress and records their cost.
  Status finish_calls();
  /// The last failure of a model.
  const std::optional<llm::Failure>& failure() const { return failure_; }
  const std::vector<stages::Attempt>& attempts() const { return attempts_; }
  /// Why answers of this session had no usable module.
  const std::vector<std::string>& unusable() const { return unusable_; }

 private:
  /// A model that is answering.
  struct PendingAnswer {
    llm::ModelId model;
    llm::Request request;
    std::map<std::string, std::string> sources;  // by id; the modules that were shown
    std::future<llm::Outcome> answer;
  };
  Result<std::unique_ptr<PendingAnswer>> ask(const evolve::ProposalRequest& request,
                                             const evolve::Population& archive);
  std::string told(const evolve::ProposalRequest& request, const evolve::Population& archive) const;
  std::string shown(const evolve::Entry& entry, const char* title) const;
  std::string failures(const evolve::Population& archive) const;
  evolve::Proposal read(const evolve::ProposalRequest& request, const PendingAnswer& pending,
                        const llm::Reply& reply);
  Status note(const evolve::ProposalRequest& request, const PendingAnswer& pending,
              const evolve::Proposal& proposal);

  evolve::Mutator& mutator_;
  std::optional<EvolveModelInput> models_;
  std::map<int64_t, evolve::Proposal> mutated_;
  std::map<int64_t, std::unique_ptr<PendingAnswer>> pending_;
  std::optional<llm::Failure> failure_;
  std::vector<stages::Attempt> attempts_;
  std::vector<std::string> unusable_;  // why answers were not usable
};

}  // namespace kw::workflows
