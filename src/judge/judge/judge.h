// Judges every candidate of a search; all proposers use it. Screening compiles and counts on the
// virtual GPU. Measuring runs the gate and times the candidate at the shape it was judged at.
// Certifying repeats all of that with fresh inputs. Results go to the run folder at once.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "machine/ahead_compiler.h"
#include "ports/journal.h"
#include "ports/judge.h"
#include "timing/bench.h"
#include "timing/cost_model.h"
#include "timing/lanes.h"

namespace kw::judge {

struct JudgeRequest {
  const task::Task* task = nullptr;    // its first benchmark shape is reported
  verification::VerifyRequest verify;  // reference, options, seed; we set module and tunables
  std::vector<std::string> torch_modes;
  bool host_time = false;   // rank by host time, launches included
  bool all_shapes = false;  // rank by the geometric mean of all benchmark shapes
  bool quick = false;       // certify() reuses known inputs: nothing is certified
  const record::Calibration* calibration = nullptr;  // rates for estimates and the floor
};

/// The results of certifying the winner.
struct Certificate {
  std::string id;
  std::string text;  // of the module; chosen values first in their `tune` lines
  timing::BenchReport bench;
  std::optional<ports::Compiled> ptx, cubin;
  std::vector<ports::KernelResources> resources;  // of its kernels, as far as known
  std::optional<double> occupancy;                // of the slowest launch, by the cost model
  std::optional<timing::Cost> cost;
};

/// The time of a candidate at one of the ranked shapes.
struct ShapeTime {
  std::string dims;
  double us = 0;          // as it is ranked; 0: unknown
  bool measured = false;  // otherwise estimated
  double floor_us = 0;
  std::string problem;  // why it is not timed at this shape
};

/// A candidate compiled for the timed shape and, if requested, run at a small one with all checks.
struct Trial {
  record::Verdict verdict;  // Unknown when no problem was found
  bool well = false;
  std::string log;                                // messages of the compilers or of the plan reader
  std::optional<ports::CompileFailed> failed;     // it does not compile
  std::optional<ports::RunOutcome> outcome;       // of the run
  std::optional<kernel::Program> program;         // the program that was run
  std::vector<ports::KernelResources> resources;  // if a cubin can be made
};

class LocalJudge : public ports::Judge {
 public:
  /// All arguments must outlive this. An Error when the task cannot be traced at its shapes.
  static Result<std::unique_ptr<LocalJudge>> make(const JudgeRequest& request, timing::Lanes& lanes,
                                                  ports::Records& run,
                                                  single_run::Progress progress);
  ~LocalJudge() override;

  bool has_clock() const override;
  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override;
  Result<std::vector<ports::Outcome>> race(const ports::Candidates& candidates,
                                           const ports::RaceOptions& options) override;
  Result<ports::Outcome> certify(const record::Candidate& candidate) override;

  /// Stores and compiles the candidate, and runs it if requested. A refusal is stored.
  Result<Trial> trial(const record::Candidate& candidate, bool run);
  /// Runs the gate at the timed shape and the task's smaller ones. The verdict is stored.
  Result<verification::VerifyReport> verify(const record::Candidate& candidate);
  /// What runs at dims(): PTX of the kernels and their launches. "" when they do not compile or the
  /// module does not serve that shape.
  Result<std::string> code_of(const record::Candidate& candidate);
  /// Starts compiling for dims() what code_of() will need.
  void expect(const ports::Candidates& candidates);
  /// The screening estimate at dims(); nullptr before screening.
  const timing::Cost* cost(const std::string& id) const;
  /// The counts of screening at dims(); empty before screening.
  std::vector<timing::CostLaunch> counted(const std::string& id) const;
  const JudgeRequest& request() const { return request_; }
  /// The tools of the first lane.
  const timing::BenchTools& tools() const { return lanes_.first().tools; }
  /// Replaces the certificate.
  void keep(Certificate certificate) { certificate_ = std::move(certificate); }

  /// The timed shape, or the first of them.
  const task::Dims& dims() const;
  const clock::Work& work() const;
  const clock::Floor& floor() const;
  /// The floor over the same shapes, in the same terms as ranks.
  double rank_floor_us() const;
  /// "time on the GPU", "what the host sees, launches included", …
  std::string ranked_by() const;
  /// The times at every ranked shape, dims() first.
  std::vector<ShapeTime> shape_times(const std::string& id) const;
  /// Of the last certified candidate; not set before.
  const std::optional<Certificate>& certificate() const { return certificate_; }
  /// The report of the last candidate that was refused, for the report of a failure.
  const std::optional<verification::VerifyReport>& last_refusal() const { return last_refusal_; }

 private:
  Result<std::vector<ports::Outcome>> screen(const ports::Candidates& candidates);
  Result<std::vector<ports::Outcome>> measure(const ports::Candidates& candidates);
  struct Site;
  struct Racer;
  /// The result of counting at one shape.
  struct Counted {
    std::optional<record::Verdict> refused;
    timing::Cost cost;
    bool is_lower_bound = false;  // counting was stopped; the cost is a lower bound
  };
  /// Shapes to compile for: the timed ones; also the counted ones; also the gate's.
  enum class Wanted : uint8_t { Timed, Counted, All };
  LocalJudge(const JudgeRequest& request, timing::Lanes& lanes, ports::Records& run,
             single_run::Progress progress);

  Status prepare();
  Site& first() const { return *sites_.front(); }
  /// An estimate or a floor as it is ranked.
  double as_ranked(double us) const;
  /// The geometric mean over the shapes. `known` gives the value of each, 0 if unknown.
  double rank_of(const std::function<double(const Site&)>& known) const;
  void report_progress(const std::string& what) const;
  kernel::Bindings fixed_for(const ports::Device& device, const record::Candidate& candidate) const;
  verification::VerifyRequest verify_request(const record::Candidate& candidate) const;
  /// GPUs and oracles are idle while candidates are screened, so they compute the gate's inputs and
  /// truths. Call await_truths() before other code uses them.
  void begin_truths();
  void await_truths();
  /// Tells a compiler what a candidate will need.
  void compile_ahead(machine::AheadCompiler& compiler, const record::Candidate& candidate,
                     ports::ImageKind image, Wanted shapes);
  /// Compiles the images that would be shipped.
  void compile_whole(const record::Candidate& candidate);
  Result<ports::Outcome> screen_one(const record::Candidate& candidate);
  Result<Counted> count_at(Site& site, const kernel::Module& module,
                           const record::Candidate& candidate);
  Result<ports::Outcome> refuse(const record::Candidate& candidate, const record::Verdict& verdict);
  /// The cost with the registers of the kernels at the timed shape, or a refusal because they do
  /// not assemble. Not set when no compiler here makes cubins.
  Result<std::optional<Counted>> with_registers(const Site& site,
                                                const record::Candidate& candidate);
  Result<ports::Outcome> finish_screening(const record::Candidate& candidate,
                                          bool is_lower_bound = false);
  /// The time that ranks a candidate.
  double rank_us(const clock::Measurement& measured) const;
  Result<ports::Outcome> measure_one(timing::Lane& lane, const record::Candidate& candidate);
  Status find_shape(timing::Lane& lane, size_t site);
  /// Whether all could be timed at that shape. Each rejected candidate says so in its outcome.
  Result<bool> pair_at(timing::Lane& lane, size_t site, const ports::Candidates& candidates,
                       int effort, std::vector<ports::Outcome>& looks);
  /// Gate and timed shape of one candidate of a race.
  Status admit(const record::Candidate& candidate, Racer& racer);
  /// Tries to time these together; false when one of them must be removed first.
  Result<bool> time_racers(const ports::Candidates& candidates, const std::vector<size_t>& members,
                           bool quick, std::vector<Racer>& racers);
  /// Verifies all, then times those that passed together, interleaved, in new processes.
  Result<std::vector<Racer>> race_together(const ports::Candidates& candidates, bool quick);
  Result<std::vector<ports::Outcome>> compare(const ports::Candidates& candidates, bool quick);
  /// After a failed race: finds which candidates fail alone.
  Status find_culprit(const ports::Candidates& candidates, const std::vector<size_t>& members,
                      const std::string& why, std::vector<Racer>& racers);
  Status note_time(Site& site, const record::Candidate& candidate, const char* kind,
                   const clock::Measurement& measured);
  double rank_measured(const std::string& id) const;
  bool timed_at(size_t site) const;
  Result<verification::VerifyReport> gate(timing::Lane& lane, const record::Candidate& candidate);
  /// Passed when it can be timed on this lane at all shapes; otherwise why not.
  Result<record::Verdict> ready(timing::Lane& lane, const record::Candidate& candidate);
  clock::MeasureOptions measure_options(const timing::TimedShape& shape,
                                        const std::vector<timing::TimedCandidate*>& timed,
                                        int effort);
  timing::CostRequest cost_request(const Site& site, const record::Candidate& candidate,
                                   std::vector<timing::CostLaunch> launches) const;
  Result<std::vector<ports::KernelResources>> resources_of(const kernel::Module& module,
                                                           const record::Candidate& candidate);
  Status note_resources(const record::Candidate& candidate, Certificate& certificate);

  mutable std::mutex mutex_;  // lanes report and refuse in parallel
  JudgeRequest request_;
  timing::Lanes& lanes_;
  ports::Records& run_;
  single_run::Progress progress_;
  std::vector<std::unique_ptr<Site>> sites_;  // the ranked shapes
  task::Task searched_;                       // the task at the timed shapes; certifying uses all
  uint64_t seed_ = 0;
  ports::Compiler* inner_ = nullptr;               // used by ahead_
  std::unique_ptr<machine::AheadCompiler> ahead_;  // kernels of candidates, one by one
  std::unique_ptr<machine::AheadCompiler> whole_;  // for what is certified and shipped
  std::set<std::string> gated_;                    // ids that passed verify() on the first lane
  uint64_t races_ = 0;
  std::vector<std::future<void>> truths_;  // in progress, one per lane
  bool truths_begun_ = false;
  std::optional<Certificate> certificate_;
  std::optional<verification::VerifyReport> last_refusal_;
};

/// Why a candidate was refused, in one line; "" when it passed.
std::string verdict_reason(const record::Verdict& verdict);

}  // namespace kw::judge
