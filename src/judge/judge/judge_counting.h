// One timed shape: its floor, the smaller shape for counting on the virtual GPU, and the counts and
// times. Internal to the judge.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/binding.h"
#include "gate/shapes.h"
#include "judge/judge.h"
#include "timing/cost_model.h"

namespace kw::judge {

struct LocalJudge::Site {
  /// Reduces the timed shape until the virtual GPU runs it in milliseconds, and makes inputs.
  Status choose(const task::Task& asked, const task::Dims& timed,
                const record::Calibration& calibration);
  /// The compile request for the kernels of the timed shape; not set when the module does not serve
  /// it. The caller sets the image kind.
  std::optional<ports::CompileRequest> compile_request(const kernel::Module& module,
                                                       const kernel::Bindings& fixed,
                                                       double timeout_seconds) const;

  const task::Task* task = nullptr;
  task::Dims dims;     // the timed shape
  graph::Graph graph;  // at these dims
  clock::Work work;
  clock::Floor floor;
  gate::ShapePlan plan;   // all shapes of the virtual GPU
  gate::ShapeCase small;  // the shape of the counts
  std::vector<tensor::HostTensor> inputs;
  double scale = 1;
  std::map<std::string, std::vector<timing::CostLaunch>> launches;  // by id
  std::map<std::string, timing::Cost> costs;
  std::map<std::string, double> times;  // measured, as they are ranked
  std::string dropped;                  // why this shape is not timed any more
};

/// The result of one candidate of a race that compares.
struct LocalJudge::Racer {
  record::Verdict verdict;                         // of the gate, the timed shape and the audit
  std::optional<verification::VerifyReport> gate;  // not set: it had passed before
  std::optional<clock::Measurement> measurement;
  std::optional<clock::Comparison> comparison;  // of the first of the race with this one
  std::string problem;                          // why a candidate that passed was not timed

  ports::Outcome outcome() const;
  bool in_race() const { return record::passed(verdict) && problem.empty(); }
};

// Verdicts of the judge, with their texts.
record::Verdict rejected(record::Stage stage, std::string reason);
record::Verdict not_completed(const ports::RunOutcome& outcome);
/// The verdict that timing a candidate alone gives against it; not set when there is none.
std::optional<record::Verdict> timing_verdict(const clock::MeasureOutcome& alone);

}  // namespace kw::judge
