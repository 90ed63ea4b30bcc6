// The parts of the judge: each answers one question about a candidate. Internal to the judge.
#pragma once

#include <future>
#include <set>
#include <string>
#include <vector>

#include "judge/judge_context.h"

namespace kw::judge {

/// Is it right? Compiles, runs and verifies candidates.
class Verifier {
 public:
  explicit Verifier(JudgeContext& context) : context_(context) {}

  /// GPUs and oracles are idle while candidates are screened, so they compute the gate's inputs and
  /// truths. Call await_truths() before other code uses them.
  void begin_truths();
  void await_truths();
  Result<verification::VerifyReport> gate(timing::Lane& lane, const record::Candidate& candidate);
  Result<verification::VerifyReport> verify(const record::Candidate& candidate);
  /// Whether it passed verify() on this lane.
  bool has_passed(const timing::Lane& lane, const std::string& id) const;
  Result<Trial> trial(const record::Candidate& candidate, bool run);
  Result<std::string> code_of(const record::Candidate& candidate);
  void expect(const ports::Candidates& candidates);

 private:
  Result<std::vector<ports::KernelResources>> resources_of(const kernel::Module& module,
                                                           const record::Candidate& candidate);

  JudgeContext& context_;
  std::set<std::string> gated_;            // ids that passed verify() on the first lane
  std::vector<std::future<void>> truths_;  // in progress, one per lane
  bool truths_begun_ = false;
};

/// Is it worth verifying? Counts on the virtual GPU and estimates.
class Screener {
 public:
  Screener(JudgeContext& context, Verifier& verifier) : context_(context), verifier_(verifier) {}

  Result<std::vector<ports::Outcome>> screen(const ports::Candidates& candidates);
  Result<ports::Outcome> screen_one(const record::Candidate& candidate);
  /// The result of counting at one shape.
  struct Counted {
    std::optional<record::Verdict> refused;
    timing::Cost cost;
    bool is_lower_bound = false;  // counting was stopped; the cost is a lower bound
  };
  /// The cost with the registers of the kernels at the timed shape, or a refusal because they do
  /// not assemble. Not set when no compiler here makes cubins.
  Result<std::optional<Counted>> with_registers(const Site& site,
                                                const record::Candidate& candidate);

 private:
  Result<Counted> count_at(Site& site, const kernel::Module& module,
                           const record::Candidate& candidate);
  Result<ports::Outcome> finish_screening(const record::Candidate& candidate,
                                          bool is_lower_bound = false);
  timing::CostRequest cost_request(const Site& site, const record::Candidate& candidate,
                                   std::vector<timing::CostLaunch> launches) const;

  JudgeContext& context_;
  Verifier& verifier_;
};

/// The result of one candidate of a race that compares.
struct RaceResult {
  record::Verdict verdict;                         // of the gate, the timed shape and the audit
  std::optional<verification::VerifyReport> gate;  // not set: it had passed before
  std::optional<clock::Measurement> measurement;
  std::optional<clock::Comparison> comparison;  // of the first of the race with this one
  std::string problem;                          // why a candidate that passed was not timed

  ports::Outcome outcome() const;
  bool in_race() const { return record::passed(verdict) && problem.empty(); }
};

/// How fast is it? Verifies and times candidates, alone or together.
class Timer {
 public:
  Timer(JudgeContext& context, Verifier& verifier) : context_(context), verifier_(verifier) {}

  Result<std::vector<ports::Outcome>> measure(const ports::Candidates& candidates);
  Result<std::vector<ports::Outcome>> race(const ports::Candidates& candidates, int effort);
  Result<std::vector<ports::Outcome>> compare(const ports::Candidates& candidates, bool quick);
  /// The time that ranks a candidate.
  double rank_us(const clock::Measurement& measured) const;
  double rank_measured(const std::string& id) const;

 private:
  Result<ports::Outcome> measure_one(timing::Lane& lane, const record::Candidate& candidate);
  Status find_shape(timing::Lane& lane, size_t site);
  /// Passed when it can be timed on this lane at all shapes; otherwise why not.
  Result<record::Verdict> ready(timing::Lane& lane, const record::Candidate& candidate);
  /// Whether all could be timed at that shape. Each rejected candidate says so in its outcome.
  Result<bool> pair_at(timing::Lane& lane, size_t site, const ports::Candidates& candidates,
                       int effort, std::vector<ports::Outcome>& looks);
  clock::MeasureOptions measure_options(const timing::TimedShape& shape,
                                        const std::vector<timing::TimedCandidate*>& timed,
                                        int effort);
  Status note_time(Site& site, const record::Candidate& candidate, const char* kind,
                   const clock::Measurement& measured);
  bool timed_at(size_t site) const;
  /// Gate and timed shape of one candidate of a race.
  Status admit(const record::Candidate& candidate, RaceResult& result);
  /// Verifies all, then times those that passed together, interleaved, in new processes.
  Result<std::vector<RaceResult>> race_together(const ports::Candidates& candidates, bool quick);
  /// Tries to time these together; false when one of them must be removed first.
  Result<bool> time_together(const ports::Candidates& candidates,
                             const std::vector<size_t>& members, bool quick,
                             std::vector<RaceResult>& results);
  /// After a failed race: finds which candidates fail alone.
  Status find_culprit(const ports::Candidates& candidates, const std::vector<size_t>& members,
                      const std::string& why, std::vector<RaceResult>& results);

  JudgeContext& context_;
  Verifier& verifier_;
  uint64_t races_ = 0;
};

/// May it be shipped? Repeats everything with fresh inputs.
class Certifier {
 public:
  Certifier(JudgeContext& context, Verifier& verifier, Screener& screener, Timer& timer)
      : context_(context), verifier_(verifier), screener_(screener), timer_(timer) {}

  Result<ports::Outcome> certify(const record::Candidate& candidate);

  std::optional<Certificate> certificate;  // of the last certified candidate

 private:
  Status note_resources(const record::Candidate& candidate, Certificate& made);

  JudgeContext& context_;
  Verifier& verifier_;
  Screener& screener_;
  Timer& timer_;
};

}  // namespace kw::judge
