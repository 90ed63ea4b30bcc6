// How every candidate of a search is judged: one path for all proposers. Screening compiles and
// counts on the virtual GPU; measuring sends a candidate through the gate and times it at the shape
// it was judged at; certifying does all of that anew with fresh inputs. What is found goes to the
// run's folder at once.
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
#include "ports/judge.h"
#include "store/run.h"
#include "timing/bench.h"
#include "timing/cost_model.h"
#include "timing/lanes.h"

namespace kw::judge {

struct JudgeRequest {
  const task::Task* task = nullptr;    // its first benchmark shape is the one that is reported
  verification::VerifyRequest verify;  // reference, options and seed; module and tunables are ours
  std::vector<std::string> torch_modes;
  bool host_time = false;   // candidates are ranked by what the host sees, launches included
  bool all_shapes = false;  // … by the geometric mean over all benchmark shapes, not at the first
  bool quick = false;       // certify() only looks again at what is known: nothing is certified
  const record::Calibration* calibration = nullptr;  // rates for estimates and the floor
};

/// What certification found out about the winner.
struct Certificate {
  std::string id;
  std::string text;  // of the module, the chosen values first in their `tune` lines
  timing::BenchReport bench;
  std::optional<ports::Compiled> ptx, cubin;
  std::vector<ports::KernelResources> resources;  // of its kernels, as far as known
  std::optional<double> occupancy;                // of the slowest launch, by the cost model
  std::optional<timing::Cost> cost;
};

/// How long a candidate takes at one of the shapes it is ranked at.
struct ShapeTime {
  std::string dims;
  double us = 0;          // as it is ranked; 0: not known
  bool measured = false;  // else estimated
  double floor_us = 0;
  std::string problem;  // why it is not timed here
};

/// A candidate compiled for the timed shape and, where asked, run at a small one under all checks.
struct Trial {
  record::Verdict verdict;  // Unknown when all that was looked at is well
  bool well = false;
  std::string log;                                // the compilers' words, or the plan reader's
  std::optional<ports::CompileFailed> failed;     // it does not compile
  std::optional<ports::RunOutcome> outcome;       // of the run
  std::optional<kernel::Program> program;         // that was run
  std::vector<ports::KernelResources> resources;  // where a cubin can be made
};

/// What became of one candidate of a race.
struct Racer {
  record::Verdict verdict;                         // of the gate, the timed shape and the audit
  std::optional<verification::VerifyReport> gate;  // nothing: it had passed before
  std::optional<clock::Measurement> measurement;
  std::optional<clock::Comparison> comparison;  // the first of the race against this one
  std::string problem;                          // why one that passed was not timed
};

struct RaceOptions {
  int workers = 3;     // processes
  bool quick = false;  // few samples in each
};

class LocalJudge : public ports::Judge {
 public:
  /// Everything must outlive this. An Error when the task cannot be traced at its shapes.
  static Result<std::unique_ptr<LocalJudge>> make(const JudgeRequest& request, timing::Lanes& lanes,
                                                  store::Run& run, single_run::Progress progress);
  ~LocalJudge() override;

  bool has_clock() const override;
  Result<std::vector<ports::Outcome>> examine(const ports::Candidates& candidates,
                                              ports::Depth depth) override;
  Result<std::vector<ports::Outcome>> race(const ports::Candidates& candidates,
                                           int effort) override;
  Result<ports::Outcome> certify(const record::Candidate& candidate) override;

  /// Judges all, then times those that passed together, interleaved, each process anew; only where
  /// has_clock(). The same candidate may run several times. Parallel to the candidates.
  Result<std::vector<Racer>> race_with_evidence(const ports::Candidates& candidates,
                                                const RaceOptions& options);
  /// Keeps the candidate, compiles it, and runs it where asked. What it is refused for is kept.
  Result<Trial> trial(const record::Candidate& candidate, bool run);
  /// The gate at the timed shape and the task's smaller ones; its verdict is kept.
  Result<verification::VerifyReport> verify(const record::Candidate& candidate);
  /// What runs at dims(): PTX of the kernels and how they are launched. "" when they do not compile
  /// or the module does not serve that shape.
  Result<std::string> code_of(const record::Candidate& candidate);
  /// Begins to compile for dims() what code_of() will be asked for.
  void expect(const ports::Candidates& candidates);
  /// What screening estimated at dims(); nullptr when it has not looked.
  const timing::Cost* cost(const std::string& id) const;
  /// What it counted there; empty when it has not.
  std::vector<timing::CostLaunch> counted(const std::string& id) const;
  const JudgeRequest& request() const { return request_; }
  /// Of the first lane.
  const timing::BenchTools& tools() const { return lanes_.first().tools; }
  /// Takes the place of what was certified last.
  void keep(Certificate certificate) { certificate_ = std::move(certificate); }

  /// The shape to be fast at, or the first of them.
  const task::Dims& dims() const;
  const clock::Work& work() const;
  const clock::Floor& floor() const;
  /// What ranks are measured against: the floor over the same shapes, seen from the same place.
  double rank_floor_us() const;
  /// "time on the GPU", "what the host sees, launches included", …
  std::string ranked_by() const;
  /// At every shape it is ranked at, dims() first.
  std::vector<ShapeTime> shape_times(const std::string& id) const;
  /// Of the candidate certified last; nothing before.
  const std::optional<Certificate>& certificate() const { return certificate_; }
  /// What certification said when it last refused one, for the report of a failure.
  const std::optional<verification::VerifyReport>& last_refusal() const { return last_refusal_; }

 private:
  Result<std::vector<ports::Outcome>> screen(const ports::Candidates& candidates);
  Result<std::vector<ports::Outcome>> measure(const ports::Candidates& candidates);
  struct Site;
  /// What counting at one shape gave.
  struct Counted {
    std::optional<record::Verdict> refused;
    timing::Cost cost;
    bool at_least = false;  // counting was given up
  };
  /// Shapes that something is compiled for: the timed ones; also those counted at; also the gate's.
  enum class Wanted : uint8_t { Timed, Counted, All };
  LocalJudge(const JudgeRequest& request, timing::Lanes& lanes, store::Run& run,
             single_run::Progress progress);

  Status prepare();
  Site& first() const { return *sites_.front(); }
  /// An estimate or a floor as it is ranked.
  double as_ranked(double us) const;
  /// Over the shapes; `known` gives each one's, 0 where there is none.
  double rank_of(const std::function<double(const Site&)>& known) const;
  void tell(const std::string& what) const;
  kernel::Bindings fixed_for(const ports::Device& device, const record::Candidate& candidate) const;
  verification::VerifyRequest verify_request(const record::Candidate& candidate) const;
  /// While candidates are screened the GPUs and their oracles idle: they make the gate's inputs and
  /// truths. await_truths() before anyone else asks for them.
  void begin_truths();
  void await_truths();
  /// Tells a compiler what the candidates will need.
  void compile_ahead(machine::AheadCompiler& compiler, const record::Candidate& candidate,
                     ports::ImageKind image, Wanted shapes);
  /// The images that would ship.
  void compile_whole(const record::Candidate& candidate);
  Result<ports::Outcome> screen_one(const record::Candidate& candidate);
  Result<Counted> count_at(Site& site, const kernel::Module& module,
                           const record::Candidate& candidate);
  Result<ports::Outcome> refuse(const record::Candidate& candidate, const record::Verdict& verdict);
  /// Counted again with the registers of the kernels at the timed shape, or refused because they do
  /// not assemble; nothing when nothing here makes cubins.
  Result<std::optional<Counted>> with_registers(const Site& site,
                                                const record::Candidate& candidate);
  Result<ports::Outcome> finish_screening(const record::Candidate& candidate,
                                          bool at_least = false);
  /// The time a candidate is ranked by.
  double rank_us(const clock::Measurement& measured) const;
  Result<ports::Outcome> measure_one(timing::Lane& lane, const record::Candidate& candidate);
  Status find_shape(timing::Lane& lane, size_t site);
  /// Whether all could be timed at that shape; what is rejected says so in its look.
  Result<bool> pair_at(timing::Lane& lane, size_t site, const ports::Candidates& candidates,
                       int effort, std::vector<ports::Outcome>& looks);
  /// Gate and timed shape of one of a race.
  Status admit(const record::Candidate& candidate, Racer& racer);
  /// One try at timing these together; false when one of them has to go first.
  Result<bool> time_racers(const ports::Candidates& candidates, const std::vector<size_t>& members,
                           const RaceOptions& options, std::vector<Racer>& racers);
  /// After a race that broke down: which of them does so alone.
  Status find_culprit(const ports::Candidates& candidates, const std::vector<size_t>& members,
                      const std::string& why, std::vector<Racer>& racers);
  Status note_time(Site& site, const record::Candidate& candidate, const char* kind,
                   const clock::Measurement& measured);
  double rank_measured(const std::string& id) const;
  bool timed_at(size_t site) const;
  Result<verification::VerifyReport> gate(timing::Lane& lane, const record::Candidate& candidate);
  /// Passed when it can be timed on this lane at all shapes, else why not.
  Result<record::Verdict> ready(timing::Lane& lane, const record::Candidate& candidate);
  clock::MeasureOptions measure_options(const timing::TimedShape& shape,
                                        const std::vector<timing::TimedCandidate*>& timed,
                                        int effort);
  timing::CostRequest cost_request(const Site& site, const record::Candidate& candidate,
                                   std::vector<timing::CostLaunch> launches) const;
  Result<std::vector<ports::KernelResources>> resources_of(const kernel::Module& module,
                                                           const record::Candidate& candidate);
  Status note_resources(const record::Candidate& candidate, Certificate& certificate);

  mutable std::mutex mutex_;  // lanes tell and refuse at the same time
  JudgeRequest request_;
  timing::Lanes& lanes_;
  store::Run& run_;
  single_run::Progress progress_;
  std::vector<std::unique_ptr<Site>> sites_;  // shapes that candidates are ranked at
  task::Task searched_;  // the task at the timed shapes; certifying adds its other ones
  uint64_t seed_ = 0;
  ports::Compiler* inner_ = nullptr;               // behind ahead_
  std::unique_ptr<machine::AheadCompiler> ahead_;  // kernels of candidates, one by one
  std::unique_ptr<machine::AheadCompiler> whole_;  // what ships, and what is certified of it
  std::set<std::string> gated_;                    // ids that verify() passed on the first lane
  uint64_t races_ = 0;
  std::vector<std::future<void>> truths_;  // under way, of each lane
  bool truths_begun_ = false;
  std::optional<Certificate> certificate_;
  std::optional<verification::VerifyReport> last_refusal_;
};

/// Why a candidate is out, in one line; "" when it passed.
std::string verdict_reason(const record::Verdict& verdict);

/// The module with these values first in their `tune` lines, so that they are what it uses when
/// nobody says otherwise.
std::string with_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes);

}  // namespace kw::judge
