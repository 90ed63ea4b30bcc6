// A module compiled for the shape it is examined at. Internal to the evidence.
#pragma once

#include <optional>
#include <string>

#include "evidence/evidence.h"
#include "gate/binding.h"
#include "kernel/instantiate.h"

namespace kw::evidence {

struct ExaminedBuild {
  kernel::Module module;
  task::Dims dims;
  graph::Graph graph;
  gate::Matching matching;
  kernel::Bindings fixed;     // target, tunables, the device's numbers
  kernel::Bindings bindings;  // and the shape's
  kernel::Selection selection;
  std::optional<ports::Compiled> cubin, ptx;  // at least one
  std::string no_cubin;                       // why there is none
  kernel::Program program;

  const ports::Compiled& best() const { return cubin ? *cubin : *ptx; }
  /// Every tunable with the value it has.
  std::map<std::string, int64_t> tunes() const {
    return {selection.defines.begin(), selection.defines.end()};
  }
  /// What the compiler said about a launch's kernel.
  ports::KernelResources resources(const kernel::Launch& launch) const;
};

Result<ExaminedBuild> build_examined(const EvidenceRequest& request,
                                     const timing::BenchTools& tools, bool with_ptx);

/// Its machine code; nothing and `why` when it cannot be shown. Errors: interrupted.
Result<std::optional<std::vector<profile::SassFunction>>> code_of(const ExaminedBuild& build,
                                                                  const EvidenceRequest& request,
                                                                  std::string* why);

/// What a profiler says about the launches of a call.
struct Hardware {
  std::vector<std::optional<profile::MetricSet>> launches;  // parallel to the program's
  bool counters = false;                                    // of at least one of them
  std::string problem;                                      // why not, with the way out
  std::string report;                                       // that was written
};
/// Asks the profiler, or reads what was imported. Errors: interrupted; an imported profile that is
/// of no use (Blame::Input, or Environment when it says that counters could not be read).
Result<Hardware> read_hardware(const ExaminedBuild& build, const EvidenceRequest& request,
                               const timing::BenchTools& tools);

}  // namespace kw::evidence
