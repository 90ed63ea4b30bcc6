// What optimising needs from a machine: the judge that every search uses, evidence about a kernel,
// and facts that must not change during a run. Kernels are texts of modules. Each tunable has the
// first value of its `tune` line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "ports/judge.h"
#include "profile/examined.h"

namespace kw::optimize {

using Ratio = ports::Ratio;

/// What the clock can detect on this machine, from identical copies of one kernel.
struct Noise {
  double noise_pct = 0;  // median difference of identical copies
  double mde_pct = 0;    // least difference that is detected 4 times out of 5
  int64_t pairs = 0;
};

struct Facts {
  std::string target;  // "sm_90a"; methods must be available on it
  std::string task_name;
  std::string task_hash;  // identifies task and shape in the records about methods
  /// The document for env.json: GPU, driver, compiler, tools, ceilings. Asks the tools.
  std::function<Json()> environment;
};

struct OptimizeTools {
  ports::Judge* judge = nullptr;
  profile::Examiner* examiner = nullptr;
  Facts facts;
};

ports::Candidates candidates_of(const std::vector<std::string>& kernels);
/// Verifies every kernel and times those that passed together. Parallel to `kernels`.
Result<std::vector<ports::Outcome>> race(ports::Judge& judge,
                                         const std::vector<std::string>& kernels);
/// Not set without a clock.
Result<std::optional<Noise>> noise_of(ports::Judge& judge, const std::string& kernel);

inline bool passed(const ports::Outcome& raced) { return raced.verdict == "passed"; }
/// Why it did not pass or was not timed; "" when all is well.
inline const std::string& problem_of(const ports::Outcome& raced) {
  return raced.refused.empty() ? raced.detail : raced.refused;
}
inline std::optional<double> us_of(const ports::Outcome& raced) {
  return raced.us > 0 ? std::optional(raced.us) : std::nullopt;
}

/// The request to an author: branches that apply these methods to the parent.
struct Assignment {
  int iteration = 1, retry = 0, branches = 4;
  std::string parent;                  // text of the best kernel so far
  std::vector<std::string> methods;    // chosen now, in the order to apply them
  std::vector<std::string> inherited;  // proven before; must stay
  std::vector<std::string> guidance;   // per method, from the catalogue
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
