// The judge as every search sees it: successive halving, evolution, the stages of a model,
// optimising. One kind of question, how far to look at a candidate, and one kind of answer. With a
// pretended judge a whole search runs in milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "record/candidate.h"

namespace kw::ports {

/// How far a look at a candidate goes.
enum class Depth : uint8_t {
  Compile,  // parses it and compiles it for the timed shape
  Run,      // also runs it on the virtual GPU at a small shape, under all checks
  Screen,   // compiles, counts on the virtual GPU and estimates its time; cheap
  Verify,   // the gate, the timed shape included
  Time,     // also the clock; an estimate where there is none
};

/// What one look at a candidate gave: a time, or why it is out.
struct Outcome {
  double us = 0;                // 0: unknown
  bool measured = false;        // by a clock, else an estimate
  bool is_lower_bound = false;  // `us` is only a lower limit
  std::string refused;          // why it is out, in one line; "" while it is in
  std::string detail;           // all there is to say about it, for the author who repairs it
  std::string bound;            // "memory", "compute" or "latency"; "" where it is not known
  double occupancy = -1;        // 0 to 1; -1: unknown
  int64_t methods = 0;          // that it claims: how much there is to understand
  std::string code;             // PTX and launches; "" where there are none

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

/// Answers are parallel to the candidates. Errors are the machine's, never a candidate's.
class Judge {
 public:
  virtual ~Judge();
  /// Whether there is a clock; without one all times are estimates and race() is not called.
  virtual bool has_clock() const = 0;
  virtual Result<std::vector<Outcome>> examine(const Candidates& candidates, Depth depth) = 0;
  /// All on the clock together, interleaved; `effort` (1, 2, …) says how many samples are worth it.
  virtual Result<std::vector<Outcome>> race(const Candidates& candidates, int effort) = 0;
  /// The full gate with fresh inputs, and where there is a clock the full timing.
  virtual Result<Outcome> certify(const record::Candidate& candidate) = 0;
  /// What limits it and what may help, each number called measured or estimated.
  virtual std::string explain(const record::Candidate& candidate);

  /// One candidate.
  Result<Outcome> examine_one(const record::Candidate& candidate, Depth depth);
};

/// A judge in front of another. What it does not say itself, the other does.
class JudgeDecorator : public Judge {
 public:
  /// Borrows it.
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
