// What optimising needs of a machine: judging and racing kernels, evidence about one, its machine
// code. The engine's is real; tests use a pretended one. Kernels are texts of modules; their
// tunables take the first value of each `tune` line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "profile/examined.h"

namespace kw::optimize {

/// How the first kernel's time relates to another's: first over other, so above 1 means that the
/// other is faster.
struct Ratio {
  double value = 1, low = 1, high = 1;
  std::string relation;  // of the other: "FASTER", "SAME", "SLOWER", "AMBIGUOUS"
};

/// What became of one kernel in a race.
struct Raced {
  bool passed = false;
  std::string verdict;       // "passed", "wrong", "rejected", "crashed", "unknown"
  std::string problem;       // why it did not pass or was not timed, in words; "" when all is well
  std::optional<double> us;  // nothing: neither measured nor estimated
  bool measured = false;     // else `us` is an estimate
  std::vector<double> samples_us;
  std::optional<Ratio> ratio;  // to the first; nothing where one of the two was not measured
  Json details;                // for bench.json: the judge's own documents
};

/// What the clock can tell apart on this machine, from identical copies of one kernel.
struct Noise {
  double noise_pct = 0;  // median difference of identical copies
  double mde_pct = 0;    // least difference that is seen 4 times of 5
  int64_t pairs = 0;
};

class Workshop {
 public:
  virtual ~Workshop();

  /// The document for env.json: GPU, driver, compiler, tools, ceilings.
  virtual Json environment() = 0;
  /// "sm_90a"; what methods must be available on.
  virtual std::string target() const = 0;
  /// Identifies task and shape for what is remembered about methods.
  virtual std::string task_hash() const = 0;
  virtual std::string task_name() const = 0;
  /// Whether there is a clock; else all times are estimates.
  virtual bool measures() const = 0;

  /// Judges every kernel and times those that passed together, interleaved; parallel to `kernels`.
  /// Errors are the machine's, never a kernel's.
  virtual Result<std::vector<Raced>> race(const std::vector<std::string>& kernels) = 0;
  /// Nothing without a clock.
  virtual Result<std::optional<Noise>> noise(const std::string& kernel) = 0;
  /// `us`: as raced. `report`: where a profiler's report goes; "" = not kept.
  virtual Result<profile::Examined> examine(const std::string& kernel, std::optional<double> us,
                                   const std::string& report) = 0;
  /// Machine code alone; nothing when no tool here can show it.
  virtual Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
      const std::string& kernel) = 0;
};

/// What an author is asked for: branches that apply these methods to the parent.
struct Assignment {
  int iteration = 1, retry = 0, branches = 4;
  std::string parent;                  // text of the best kernel so far
  std::vector<std::string> methods;    // chosen now, in the order to apply them
  std::vector<std::string> inherited;  // proven before: must stay
  std::vector<std::string> guidance;   // per method: what the catalogue says
  std::string evidence;                // metrics, roofline and plan in words
  std::vector<std::string> failures;   // of the try before: "b2: wrong: …"
  std::vector<std::string> known;      // texts that were tried already
};
struct Branch {
  std::string text;
  std::string note;  // what it is, in words: "block_per_row THREADS=256 VEC=8"
};
struct Written {
  std::vector<Branch> branches;      // none: the author has nothing to offer
  std::vector<std::string> applied;  // of the methods asked for
  std::vector<std::string> cannot;   // "compute.tensor_core: no design of this task uses it"
};

/// Who writes branches: the built-in one, a model. Agents write files instead.
class Author {
 public:
  virtual ~Author();
  virtual std::string name() const = 0;
  virtual Result<Written> write(const Assignment& assignment) = 0;
  /// Whether this author could ever apply a method to this kernel; why not, in words, or "". Asked
  /// before methods are chosen, so that no budget goes to what nobody can write.
  virtual std::string cannot_apply(const std::string& method, const std::string& parent) = 0;
};

}  // namespace kw::optimize
