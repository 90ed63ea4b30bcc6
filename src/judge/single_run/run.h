// The story of `run`: bind, select, compile, instantiate, make inputs, run, and say what happened.
// Works on the ports alone, so that fakes can stand in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/measure.h"
#include "engine/bind.h"
#include "engine/inputs.h"
#include "engine/summary.h"
#include "exec/compiler.h"
#include "exec/device.h"
#include "kernel/instantiate.h"

namespace kw::engine {

/// Told what is being done now, for a terminal's status line. May be empty.
using Progress = std::function<void(const std::string&)>;

struct RunRequest {
  BindingRequest bindings;
  InputSources inputs;
  uint64_t seed = 0;
  std::string target;  // "" = the device's own
  bool counters = false;
  bool check_order = false;
  bool time = false;
  int threads = 0;
  double timeout_seconds = 60;
};

struct RunReport {
  exec::DeviceInfo device;
  std::string compiler;
  kernel::Bindings bindings;
  kernel::Selection selection;
  std::optional<exec::CompileFailed> compile_failed;  // then nothing below is set
  std::optional<exec::Compiled> compiled;             // without its image
  kernel::Program program;
  std::optional<exec::RunOutcome> outcome;
  std::vector<TensorSummary> outputs;
  std::vector<record::LaunchCounters> counters;
  std::optional<bench::Measurement> timing;
  std::vector<std::string> notes;  // what a person should know about how it was done
  std::string timing_problem;      // why there is no timing although it was asked for

  /// Compiled, ran to its end, and no certain finding.
  bool passed() const;
};

/// A failing candidate is a report; Errors are the user's or the machine's.
Result<RunReport> run_module(const kernel::Module& module, const RunRequest& request,
                             exec::Compiler& compiler, exec::Device& device,
                             const Progress& progress = {});

/// What instantiate() needs of a compiler's answer.
std::vector<kernel::KernelInfo> kernel_infos(const exec::Compiled& compiled);

/// Writes NAME.npy for every output and inout into `folder` (made when missing). The names written.
Result<std::vector<std::string>> write_outputs(const RunReport& report, const std::string& folder);

}  // namespace kw::engine
