// The story of `run`: bind, select, compile, instantiate, make inputs, run, and say what happened.
// Works on the ports alone, so that fakes can stand in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "binding/bind.h"
#include "binding/inputs.h"
#include "binding/summary.h"
#include "clock/measure.h"
#include "core/result.h"
#include "kernel/instantiate.h"
#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::single_run {

/// Told what is being done now, for a terminal's status line. May be empty.
using Progress = std::function<void(const std::string&)>;

struct RunRequest {
  binding::BindingRequest bindings;
  binding::InputSources inputs;
  uint64_t seed = 0;
  std::string target;  // "" = the device's own
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
  std::optional<ports::CompileFailed> compile_failed;  // then nothing below is set
  std::optional<ports::Compiled> compiled;             // without its image
  kernel::Program program;
  std::optional<ports::RunOutcome> outcome;
  std::vector<binding::TensorSummary> outputs;
  std::vector<record::LaunchCounters> counters;
  std::optional<clock::Measurement> timing;
  std::vector<std::string> notes;  // what a person should know about how it was done
  std::string timing_problem;      // why there is no timing although it was asked for

  /// Compiled, ran to its end, and no certain finding.
  bool passed() const;
};

/// A failing candidate is a report; Errors are the user's or the machine's.
Result<RunReport> run_module(const kernel::Module& module, const RunRequest& request,
                             ports::Compiler& compiler, ports::Device& device,
                             const Progress& progress = {});

/// What instantiate() needs of a compiler's answer.
std::vector<kernel::KernelInfo> kernel_infos(const ports::Compiled& compiled);

/// Writes NAME.npy for every output and inout into `folder` (made when missing). The names written.
Result<std::vector<std::string>> write_outputs(const RunReport& report, const std::string& folder);

}  // namespace kw::single_run
