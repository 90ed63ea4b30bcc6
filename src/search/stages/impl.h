// The implementation of the stages. Internal to stages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stages/stages.h"
#include "stages/writer.h"

namespace kw::stages {

class Stages::Impl {
 public:
  Impl(ModelPlan plan, StageInput input, Ports ports, StageProgress progress);

  Result<StageHistory> write();
  Result<std::optional<record::Candidate>> polish(const record::Candidate& winner,
                                                  const std::string& facts, std::string* why);

  ModelPlan plan;
  StageInput input;
  Ports ports;
  Writer writer;
  std::vector<Attempt> attempts;  // of all sessions

 private:
  /// Asks until a module compiles, at most `most` times; not set when none does.
  Result<std::optional<record::Candidate>> compiling(TryRequest request, int most);
  /// The same with the stronger model, which gets the history of all attempts.
  Result<std::optional<record::Candidate>> escalated(TryRequest request, int most,
                                                     const std::string& goal);
  Result<std::optional<record::Candidate>> codegen();
  Result<ports::Outcome> judge(const record::Candidate& candidate);
  Result<std::optional<record::Candidate>> correct(record::Candidate candidate,
                                                   std::string* reason);
  Status last_repair(int round, record::Candidate& candidate, ports::Outcome& look);
  Result<bool> find_right();
  Status consider_built_in();
  Status performance();
  /// One try to be faster. Returns the feedback for the model; "": the provider failed, which ends
  /// the stage.
  Result<std::string> faster(const TryRequest& request);
  Result<std::string> judge_faster(const TryRequest& request, const Try& made);
  bool good_enough() const;
  void consider(const record::Candidate& candidate, const ports::Outcome& time);
  Status note(const TryRequest& request, const Try& made, bool succeeded,
              const std::string& outcome, double us = 0);
  void finish(Stage stage, bool succeeded, const std::string& reason, double begin);
  int used(Stage stage, bool escalated) const;
  int rounds_before() const;
  std::string last_source() const;
  static std::string source_text(const record::Candidate& candidate);
  std::string hints(const record::Candidate& candidate);
  static double now();

  StageProgress before;
  StageHistory history;
};

}  // namespace kw::stages
