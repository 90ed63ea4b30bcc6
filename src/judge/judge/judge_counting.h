// One shape to be fast at: its floor, the smaller shape at which candidates are counted on the
// virtual GPU for it, and what was counted and timed. Internal to the judge.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/cost_model.h"
#include "engine/judge.h"
#include "verify/binding.h"
#include "verify/shapes.h"

namespace kw::engine {

struct Judge::Site {
  /// The timed shape, cut down until the virtual GPU does it in milliseconds, with inputs.
  Status choose(const task::Task& asked, const task::Dims& timed,
                const record::Calibration& calibration);
  /// What the kernels of the timed shape are compiled with; nothing when the module does not serve
  /// it. The image kind is the caller's.
  std::optional<exec::CompileRequest> compile_request(const kernel::Module& module,
                                                      const kernel::Bindings& fixed,
                                                      double timeout_seconds) const;

  const task::Task* task = nullptr;
  task::Dims dims;     // timed
  graph::Graph graph;  // at these
  bench::Work work;
  bench::Floor floor;
  verify::ShapePlan plan;   // all shapes the virtual GPU looks at
  verify::ShapeCase small;  // where things are counted
  std::vector<tensor::HostTensor> inputs;
  double scale = 1;
  std::map<std::string, std::vector<CostLaunch>> launches;  // by id
  std::map<std::string, Cost> costs;
  std::map<std::string, double> times;  // on the clock, as they are ranked
  std::string dropped;                  // why nothing is timed here any more
};

// Verdicts that a look at a candidate ends with, and their words.
record::Verdict rejected(record::Stage stage, std::string reason);
record::Verdict not_completed(const exec::RunOutcome& outcome);
/// What timing a candidate alone says against it.
std::optional<record::Verdict> timing_verdict(const bench::MeasureOutcome& alone);

}  // namespace kw::engine
