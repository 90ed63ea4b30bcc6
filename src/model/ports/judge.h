// The judge as every search sees it: successive halving, evolution, the stages of a model,
// optimisation. The caller says how far to examine a candidate, and the judge returns an outcome.
// With a fake judge a whole search runs in milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "record/candidate.h"

namespace kw::ports {

/// How far the judge examines a candidate.
enum class Depth : uint8_t {
  Compile,  // parses and compiles it for the timed shape
  Run,      // also runs it on the virtual GPU at a small shape, with all checks
  Screen,   // compiles, counts on the virtual GPU and estimates the time; cheap
  Verify,   // the gate, including the timed shape
  Time,     // also measures the time; an estimate without a clock
};

/// The time of the first candidate of a race over that of another. Above 1 the other is faster.
struct Ratio {
  double value = 1, low = 1, high = 1;
  std::string relation;   // of the other: "FASTER", "SAME", "SLOWER", "AMBIGUOUS"
  double detectable = 0;  // the least relative difference that this race would detect
  int64_t pairs = 0;      // of samples
};

/// The result of one examination: a time, or the reason for refusal.
struct Outcome {
  double us = 0;                // 0: unknown
  bool measured = false;        // by a clock; otherwise an estimate
  bool is_lower_bound = false;  // `us` is only a lower bound
  std::string refused;          // reason for refusal in one line; "" if not refused
  std::string detail;           // all details, for the author who repairs it
  std::string bound;            // "memory", "compute" or "latency"; "" if unknown
  double occupancy = -1;        // 0 to 1; -1: unknown
  int64_t methods = 0;          // number of methods it claims: a measure of complexity
  std::string code;             // PTX and launches; "" if there are none

  // Only of a race that compares.
  std::string verdict;  // "passed", "wrong", "rejected", "crashed", "unknown"; "": not verified
  std::vector<double> samples_us;
  std::optional<Ratio> ratio;  // to the first; not set if one of the two was not measured
  Json documents;              // of the judge: verdict, gate, timing

  bool passed() const { return refused.empty(); }

  static Outcome refusal(std::string reason) {
    Outcome out;
    out.refused = std::move(reason);
    return out;
  }
  static Outcome time(double us) {
    Outcome out;
    out.us = us;
    out.measured = true;
    return out;
  }
  static Outcome estimate(double us, bool is_lower_bound) {
    Outcome out;
    out.us = us;
    out.is_lower_bound = is_lower_bound;
    return out;
  }
};
using Candidates = std::vector<record::Candidate>;

struct RaceOptions {
  int effort = 1;        // 1, 2, …: more takes more samples
  bool compare = false;  // verifies all first, and compares the first with each of the others
  bool quick = false;    // compares in one process with few samples
};

/// Answers are parallel to the candidates. An Error comes from the machine, never from a candidate.
class Judge {
 public:
  virtual ~Judge();
  /// Whether there is a clock. Without one, all times are estimates.
  virtual bool has_clock() const = 0;
  virtual Result<std::vector<Outcome>> examine(const Candidates& candidates, Depth depth) = 0;
  /// Times all candidates together, interleaved. A candidate may appear several times.
  virtual Result<std::vector<Outcome>> race(const Candidates& candidates,
                                            const RaceOptions& options) = 0;
  /// The full gate with fresh inputs, and the full timing if there is a clock.
  virtual Result<Outcome> certify(const record::Candidate& candidate) = 0;
  /// What limits the candidate and what may help. Each number is called measured or estimated.
  virtual std::string explain(const record::Candidate& candidate);

  /// examine() for one candidate.
  Result<Outcome> examine_one(const record::Candidate& candidate, Depth depth);
};

/// Wraps another judge and passes on the calls that it does not override.
class JudgeDecorator : public Judge {
 public:
  /// Borrows `inner`.
  explicit JudgeDecorator(Judge& inner) : inner_(inner) {}
  bool has_clock() const override { return inner_.has_clock(); }
  Result<std::vector<Outcome>> examine(const Candidates& candidates, Depth depth) override;
  Result<std::vector<Outcome>> race(const Candidates& candidates,
                                    const RaceOptions& options) override;
  Result<Outcome> certify(const record::Candidate& candidate) override;
  std::string explain(const record::Candidate& candidate) override;

 private:
  Judge& inner_;
};

}  // namespace kw::ports
