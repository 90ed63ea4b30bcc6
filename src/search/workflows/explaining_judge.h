// The judge for models: outcomes as text. Every judged candidate is also added to the archive of
// the search.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "judge/judge.h"
#include "profile/metric_set.h"
#include "profile/sass.h"
#include "stages/stage_ports.h"

namespace kw::workflows {

class ExplainingJudge : public ports::JudgeDecorator {
 public:
  /// Borrows all. `private_paths`: paths and the names that replace them, so that prompts do not
  /// contain paths of this machine.
  ExplainingJudge(judge::LocalJudge& judge, archive::Archive& archive,
                  const record::Calibration& calibration,
                  std::vector<std::pair<std::string, std::string>> private_paths)
      : JudgeDecorator(judge),
        judge_(judge),
        archive_(archive),
        calibration_(calibration),
        private_paths_(std::move(private_paths)) {}

  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override;
  std::string explain(const record::Candidate& candidate) override;

 private:
  Result<ports::Outcome> examined(const record::Candidate& candidate, ports::Depth depth);
  Result<ports::Outcome> trial(const record::Candidate& candidate, bool run);
  Result<ports::Outcome> verify(const record::Candidate& candidate);
  Result<ports::Outcome> time(const record::Candidate& candidate);
  Result<ports::Outcome> estimate(const record::Candidate& candidate);
  std::string anonymous(std::string text) const;
  /// Machine code and hardware counters of one candidate, read once.
  struct Looked {
    std::optional<profile::SassFacts> code;
    std::string hardware;  // as text
  };
  const Looked& look_at(const record::Candidate& candidate, bool hardware);
  std::string evidence_hint(const record::Candidate& candidate);

  judge::LocalJudge& judge_;
  archive::Archive& archive_;
  const record::Calibration& calibration_;
  std::vector<std::pair<std::string, std::string>> private_paths_;
  std::map<std::string, std::string> resources_;  // by id, from the compilers
  std::map<std::string, Looked> looked_;          // by id
};

/// What limits a candidate, by roofline and cost model, and what may help.
std::string bound_text(const timing::Cost* cost, const clock::Work& work, const clock::Floor& floor,
                       double us, bool measured, const std::string& rates_of);

/// The counts of each launch on the virtual GPU, with what is unusual.
std::string counters_hint(const std::vector<timing::CostLaunch>& launches);

/// The counts of the machine code, and the differences from the best module so far (may be null).
std::string code_hint(const profile::SassFacts& code, const profile::SassFacts* best);

/// The most important hardware counters; "" when none is known.
std::string hardware_hint(const profile::MetricSet& metrics);

}  // namespace kw::workflows
