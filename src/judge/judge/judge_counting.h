// One shape to be fast at: its floor, the smaller shape at which candidates are counted on the
// virtual GPU for it, and what was counted and timed. Internal to the judge.
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
  /// The timed shape, cut down until the virtual GPU does it in milliseconds, with inputs.
  Status choose(const task::Task& asked, const task::Dims& timed,
                const record::Calibration& calibration);
  /// What the kernels of the timed shape are compiled with; nothing when the module does not serve
  /// it. The image kind is the caller's.
  std::optional<ports::CompileRequest> compile_request(const kernel::Module& module,
                                                       const kernel::Bindings& fixed,
                                                       double timeout_seconds) const;

  const task::Task* task = nullptr;
  task::Dims dims;     // timed
  graph::Graph graph;  // at these
  clock::Work work;
  clock::Floor floor;
  gate::ShapePlan plan;   // all shapes the virtual GPU looks at
  gate::ShapeCase small;  // where things are counted
  std::vector<tensor::HostTensor> inputs;
  double scale = 1;
  std::map<std::string, std::vector<timing::CostLaunch>> launches;  // by id
  std::map<std::string, timing::Cost> costs;
  std::map<std::string, double> times;  // on the clock, as they are ranked
  std::string dropped;                  // why nothing is timed here any more
};

// Verdicts that a look at a candidate ends with, and their words.
record::Verdict rejected(record::Stage stage, std::string reason);
record::Verdict not_completed(const ports::RunOutcome& outcome);
/// What timing a candidate alone says against it.
std::optional<record::Verdict> timing_verdict(const clock::MeasureOutcome& alone);

}  // namespace kw::judge
