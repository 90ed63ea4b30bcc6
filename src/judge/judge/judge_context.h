// What the parts of the judge share: request, lanes, records, compilers and the timed shapes.
// Internal to the judge.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "machine/ahead_compiler.h"
#include "shapes/binding.h"
#include "shapes/shapes.h"
#include "timing/cost_model.h"

namespace kw::judge {

/// One timed shape: its floor, the smaller shape for counting on the virtual GPU, and the counts
/// and times.
struct Site {
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
  shapes::ShapePlan plan;   // all shapes of the virtual GPU
  shapes::ShapeCase small;  // the shape of the counts
  std::vector<tensor::HostTensor> inputs;
  double scale = 1;
  std::map<std::string, std::vector<timing::CostLaunch>> launches;  // by id
  std::map<std::string, timing::Cost> costs;
  std::map<std::string, double> times;  // measured, as they are ranked
  std::string dropped;                  // why this shape is not timed any more
};

/// Shapes to compile for: the timed ones; also the counted ones; also the gate's.
enum class ShapeScope : uint8_t { Timed, Counted, All };

struct JudgeContext {
  JudgeContext(const JudgeRequest& request, timing::Lanes& lanes, ports::Records& run,
               single_run::Progress progress);
  /// Gives the lanes their own compiler back.
  ~JudgeContext();
  Status prepare();

  bool has_clock() const { return lanes.has_gpu(); }
  Site& first() const { return *sites.front(); }
  ports::Device& virtual_gpu() const { return *lanes.first().tools.verify.virtual_gpu; }
  void report_progress(const std::string& what) const;
  /// An estimate or a floor as it is ranked.
  double as_ranked(double us) const;
  /// The geometric mean over the shapes. `known` gives the value of each, 0 if unknown.
  double rank_of(const std::function<double(const Site&)>& known) const;
  kernel::Bindings fixed_for(const ports::Device& device, const record::Candidate& candidate) const;
  verification::VerifyRequest verify_request(const record::Candidate& candidate) const;
  Result<ports::Outcome> refuse(const record::Candidate& candidate, const record::Verdict& verdict);
  /// The compile request of the kernels at dims(), one by one.
  std::optional<ports::CompileRequest> compile_request(const kernel::Module& module,
                                                       const record::Candidate& candidate) const;
  /// Tells a compiler what a candidate will need.
  void compile_ahead(machine::AheadCompiler& compiler, const record::Candidate& candidate,
                     ports::ImageKind image, ShapeScope shapes);
  /// Starts compiling what the gate and the clock will need.
  void compile_for_gate(const record::Candidate& candidate);
  /// Compiles the images that would be shipped.
  void compile_whole(const record::Candidate& candidate);

  mutable std::mutex mutex;  // lanes report and refuse in parallel
  JudgeRequest request;
  timing::Lanes& lanes;
  ports::Records& run;
  single_run::Progress progress;
  std::vector<std::unique_ptr<Site>> sites;  // the ranked shapes
  task::Task searched;                       // the task at the timed shapes; certifying uses all
  uint64_t seed = 0;
  ports::Compiler* inner = nullptr;               // used by `ahead`
  std::unique_ptr<machine::AheadCompiler> ahead;  // kernels of candidates, one by one
  std::unique_ptr<machine::AheadCompiler> whole;  // for what is certified and shipped
  std::optional<verification::VerifyReport> last_refusal;
};

// Verdicts of the judge, with their texts.
record::Verdict rejected(record::Stage stage, std::string reason);
record::Verdict not_completed(const ports::RunOutcome& outcome);
/// The verdict that timing a candidate alone gives against it; not set when there is none.
std::optional<record::Verdict> timing_verdict(const clock::MeasureOutcome& alone);

}  // namespace kw::judge
