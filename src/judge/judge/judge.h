// Judges every candidate of a search; all proposers use it. Screening compiles and counts on the
// virtual GPU. Measuring runs the gate and times the candidate at the shape it was judged at.
// Certifying repeats all of that with fresh inputs. Results go to the run folder at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  const JudgeRequest& request() const;
  /// The tools of the first lane.
  const timing::BenchTools& tools() const;
  /// Replaces the certificate.
  void keep(Certificate certificate);

  /// The timed shape, or the first of them.
  const task::Dims& dims() const;
  const clock::Work& work() const;
  const clock::Floor& floor() const;
  /// The floor over the same shapes, in the same terms as ranks.
  double rank_floor_us() const;
  /// "time on the GPU", "host time, including launches", …
  std::string ranked_by() const;
  /// The times at every ranked shape, dims() first.
  std::vector<ShapeTime> shape_times(const std::string& id) const;
  /// Of the last certified candidate; not set before.
  const std::optional<Certificate>& certificate() const;
  /// The report of the last candidate that was refused, for the report of a failure.
  const std::optional<verification::VerifyReport>& last_refusal() const;

 private:
  struct Parts;
  explicit LocalJudge(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

/// Why a candidate was refused, in one line; "" when it passed.
std::string verdict_reason(const record::Verdict& verdict);

}  // namespace kw::judge
