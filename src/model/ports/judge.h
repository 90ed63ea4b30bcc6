// The judge as every search sees it: successive halving, evolution, the stages of a model,
// optimisation. The caller says how far to examine a candidate, and the judge returns an outcome.
// With a fake judge a whole search runs in milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// Answers are parallel to the candidates. An Error comes from the machine, never from a candidate.
class Judge {
 public:
  virtual ~Judge();
  /// Whether there is a clock. Without one, all times are estimates and race() is not called.
  virtual bool has_clock() const = 0;
  virtual Result<std::vector<Outcome>> examine(const Candidates& candidates, Depth depth) = 0;
  /// Times all candidates together, interleaved. A larger `effort` (1, 2, …) takes more samples.
  virtual Result<std::vector<Outcome>> race(const Candidates& candidates, int effort) = 0;
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
  Result<std::vector<Outcome>> race(const Candidates& candidates, int effort) override;
  Result<Outcome> certify(const record::Candidate& candidate) override;
  std::string explain(const record::Candidate& candidate) override;

 private:
  Judge& inner_;
};

}  // namespace kw::ports
