// Who proposes in an evolution: the operators without a model at once, models in threads of their
// own. What models are told is made of the archive; what they answer is read here and judged
// elsewhere.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evolve/breeder.h"
#include "evolve/ensemble.h"
#include "evolve/ports.h"
#include "plan/codegen.h"
#include "stages/model_journal.h"
#include "stages/model_session.h"
#include "stages/stages.h"
#include "task/task.h"

namespace kw::workflows {

/// Code generation's designs for a task, which must outlive them.
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

/// What models are told beside the task.
struct EvolveTalk {
  stages::ModelSession* session = nullptr;
  stages::RunJournal* journal = nullptr;
  stages::Brief brief;
  std::vector<evolve::Arm> arms;
  std::string shapes;  // "" where they are not told
  /// What limits a candidate, in words; empty where that is not told.
  std::function<std::string(const record::Candidate&)> evidence;
};

class EvolveProposer : public evolve::Proposer {
 public:
  /// Without a talk no model is asked.
  EvolveProposer(evolve::Breeder& breeder, std::optional<EvolveTalk> talk)
      : breeder_(breeder), talk_(std::move(talk)) {}
  /// Waits for whoever still answers.
  ~EvolveProposer() override;

  Status begin(const evolve::Order& order, const evolve::Archive& archive) override;
  Result<evolve::Offer> finish(const evolve::Order& order) override;
  /// What is still in flight when an evolution ends before its time is waited for and paid for.
  Status settle();
  /// That ended an order last.
  const std::optional<llm::Failure>& failure() const { return failure_; }
  const std::vector<stages::Attempt>& attempts() const { return attempts_; }
  /// Answers that held no module, why, in this session.
  const std::vector<std::string>& unusable() const { return unusable_; }

 private:
  /// A model at work.
  struct Talk {
    llm::ModelId model;
    llm::Request request;
    std::map<std::string, std::string> sources;  // by id, of what was shown
    std::future<llm::Outcome> answer;
  };
  Result<std::unique_ptr<Talk>> ask(const evolve::Order& order, const evolve::Archive& archive);
  std::string told(const evolve::Order& order, const evolve::Archive& archive) const;
  std::string shown(const evolve::Entry& entry, const char* title) const;
  std::string failures(const evolve::Archive& archive) const;
  evolve::Offer read(const evolve::Order& order, const Talk& talk, const llm::Reply& reply);
  Status note(const evolve::Order& order, const Talk& talk, const evolve::Offer& offer);

  evolve::Breeder& breeder_;
  std::optional<EvolveTalk> talk_;
  std::map<int64_t, evolve::Offer> bred_;
  std::map<int64_t, std::unique_ptr<Talk>> talks_;
  std::optional<llm::Failure> failure_;
  std::vector<stages::Attempt> attempts_;
  std::vector<std::string> unusable_;  // answers, why
};

}  // namespace kw::workflows
