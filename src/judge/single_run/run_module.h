// The `run` command: bind, select, compile, instantiate, make inputs, run and report. Uses only
// ports, so tests can use fakes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "binding/bind.h"
#include "binding/inputs.h"
#include "binding/tensor_summary.h"
#include "clock/measure.h"
#include "core/result.h"
#include "kernel/instantiate.h"
#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::single_run {

/// Receives the current step, for a terminal's status line. May be empty.
using Progress = std::function<void(const std::string&)>;

struct RunRequest {
  binding::BindingRequest bindings;
  binding::InputSources inputs;
  uint64_t seed = 0;
  std::string target;  // "": the device's own
  bool counters = false;
  bool check_order = false;
  bool time = false;
  int threads = 0;
  double timeout_seconds = 60;
};

struct RunReport {
  ports::DeviceInfo device;
  std::string compiler;
  kernel::Bindings bindings;
  kernel::Selection selection;
  std::optional<ports::CompileFailed> compile_failed;  // if set, nothing below is set
  std::optional<ports::Compiled> compiled;             // without its image
  kernel::Program program;
  std::optional<ports::RunOutcome> outcome;
  std::vector<binding::TensorSummary> outputs;
  std::vector<record::LaunchCounters> counters;
  std::optional<clock::Measurement> timing;
  std::vector<std::string> notes;  // what the user should know about the run
  std::string timing_problem;      // why there is no timing although the user asked for it

  /// It compiled, ran to its end, has no certain finding and no timing problem.
  bool passed() const;
};

/// A failing candidate is a report. Errors are about the user's input or the machine.
Result<RunReport> run_module(const kernel::Module& module, const RunRequest& request,
                             ports::Compiler& compiler, ports::Device& device,
                             const Progress& progress = {});

/// The parts of a compiler's answer that instantiate() needs.
std::vector<kernel::KernelInfo> kernel_infos(const ports::Compiled& compiled);

/// Writes NAME.npy for every output and inout into `folder`, which is created if missing. Returns
/// the paths.
Result<std::vector<std::string>> write_outputs(const RunReport& report, const std::string& folder);

}  // namespace kw::single_run
