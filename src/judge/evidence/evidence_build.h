// A module compiled for the shape of the evidence. Internal to evidence.
#pragma once

#include <optional>
#include <string>

#include "evidence/evidence.h"
#include "kernel/instantiate.h"
#include "shapes/binding.h"

namespace kw::evidence {

struct ExaminedBuild {
  kernel::Module module;
  task::Dims dims;
  graph::Graph graph;
  shapes::Matching matching;
  kernel::Bindings fixed;     // target, tunables, numbers of the device
  kernel::Bindings bindings;  // the same with the shape
  kernel::Selection selection;
  std::optional<ports::Compiled> cubin, ptx;  // at least one
  std::string no_cubin;                       // why there is no cubin
  kernel::Program program;

  const ports::Compiled& best() const { return cubin ? *cubin : *ptx; }
  /// Every tunable with its value.
  std::map<std::string, int64_t> tunes() const {
    return {selection.defines.begin(), selection.defines.end()};
  }
  /// What the compiler reported about a launch's kernel.
  ports::KernelResources resources(const kernel::Launch& launch) const;
};

Result<ExaminedBuild> build_examined(const EvidenceRequest& request,
                                     const timing::BenchTools& tools, bool with_ptx);

/// The machine code; not set, with `why`, when it cannot be shown. Errors: interrupted.
Result<std::optional<std::vector<profile::SassFunction>>> code_of(const ExaminedBuild& build,
                                                                  const EvidenceRequest& request,
                                                                  std::string* why);

/// What a profiler reports about the launches of a call.
struct Hardware {
  std::vector<std::optional<profile::MetricSet>> launches;  // parallel to the program's launches
  bool counters = false;                                    // for at least one launch
  std::string problem;                                      // why not, and what the user can do
  std::string report;                                       // the file that was written
};
/// Runs the profiler, or reads the imported profile. Errors: interrupted; an imported profile that
/// is unusable (Blame::Input, or Environment when it says that counters could not be read).
Result<Hardware> read_hardware(const ExaminedBuild& build, const EvidenceRequest& request,
                               const timing::BenchTools& tools);

}  // namespace kw::evidence
