// What optimising needs from a machine: verifying and racing kernels, evidence about a kernel, its
// machine code. workflows/ has the real one; tests use a fake. Kernels are texts of modules. Each
// tunable has the first value of its `tune` line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "profile/examined.h"

namespace kw::optimize {

/// The time of the first kernel over that of another. Above 1 the other is faster.
struct Ratio {
  double value = 1, low = 1, high = 1;
  std::string relation;  // of the other: "FASTER", "SAME", "SLOWER", "AMBIGUOUS"
};

/// The result of one kernel in a race.
struct Raced {
  bool passed = false;
  std::string verdict;       // "passed", "wrong", "rejected", "crashed", "unknown"
  std::string problem;       // why it did not pass or was not timed; "" when all is well
  std::optional<double> us;  // not set: neither measured nor estimated
  bool measured = false;     // otherwise `us` is an estimate
  std::vector<double> samples_us;
  std::optional<Ratio> ratio;  // to the first; not set if one of the two was not measured
  Json details;                // for bench.json: the judge's documents
};

/// What the clock can detect on this machine, from identical copies of one kernel.
struct Noise {
  double noise_pct = 0;  // median difference of identical copies
  double mde_pct = 0;    // least difference that is detected 4 times out of 5
  int64_t pairs = 0;
};

class Workshop {
 public:
  virtual ~Workshop();

  /// The document for env.json: GPU, driver, compiler, tools, ceilings.
  virtual Json environment() = 0;
  /// "sm_90a"; methods must be available on it.
  virtual std::string target() const = 0;
  /// Identifies task and shape in the records about methods.
  virtual std::string task_hash() const = 0;
  virtual std::string task_name() const = 0;
  /// Whether there is a clock; otherwise all times are estimates.
  virtual bool has_clock() const = 0;

  /// Verifies every kernel and times those that passed together, interleaved. Parallel to
  /// `kernels`. Errors are about the machine, never a kernel.
  virtual Result<std::vector<Raced>> race(const std::vector<std::string>& kernels) = 0;
  /// Not set without a clock.
  virtual Result<std::optional<Noise>> noise(const std::string& kernel) = 0;
  /// `us`: as raced. `report`: path of the profiler's report; "": not kept.
  virtual Result<profile::Examined> examine(const std::string& kernel, std::optional<double> us,
                                   const std::string& report) = 0;
  /// Only the machine code; not set when no tool here can show it.
  virtual Result<std::optional<std::vector<profile::SassFunction>>> machine_code(
      const std::string& kernel) = 0;
};

/// The request to an author: branches that apply these methods to the parent.
struct Assignment {
  int iteration = 1, retry = 0, branches = 4;
  std::string parent;                  // text of the best kernel so far
  std::vector<std::string> methods;    // chosen now, in the order to apply them
  std::vector<std::string> inherited;  // proven before; must stay
  std::vector<std::string> guidance;   // per method, from the catalog
  std::string evidence;                // metrics, roofline and plan as text
  std::vector<std::string> failures;   // of the try before: "b2: wrong: …"
  std::vector<std::string> known;      // texts already tried
};
struct Branch {
  std::string text;
  std::string note;  // a description: "block_per_row THREADS=256 VEC=8"
};
struct BranchResult {
  std::vector<Branch> branches;      // empty: the author offers nothing
  std::vector<std::string> applied;  // of the requested methods
  std::vector<std::string> cannot;   // "compute.tensor_core: no design of this task uses it"
};

/// Writes branches: the built-in author or a model. Agents write files instead.
class Author {
 public:
  virtual ~Author();
  virtual std::string name() const = 0;
  virtual Result<BranchResult> write(const Assignment& assignment) = 0;
  /// Why this author could never apply a method to this kernel; "" when it could. Asked before
  /// methods are chosen, so that no budget is spent on such methods.
  virtual std::string cannot_apply(const std::string& method, const std::string& parent) = 0;
};

}  // namespace kw::optimize
