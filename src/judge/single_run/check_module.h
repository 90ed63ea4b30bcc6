// The `check` command: which shapes the module serves, and for each launch group and tunable values
// whether it compiles and what it costs. Nothing is run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "binding/bind.h"
#include "core/json.h"
#include "core/result.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "single_run/run_module.h"

namespace kw::single_run {

struct CheckRequest {
  binding::BindingRequest bindings;  // dims may be incomplete; missing ones are probed
  std::string target = "sm_90";
  bool all_tunes = false;
  size_t tune_limit = 64;  // combinations tried with all_tunes
  double timeout_seconds = 60;
};

/// One launch of one variant: its grid and block at the dims shown, its resources and its
/// occupancy.
struct LaunchCheck {
  std::string kernel;
  kernel::Dim3 grid, block;
  int64_t dynamic_shared = 0;
  ports::KernelResources resources;
  int blocks_per_sm = -1;  // -1: registers are unknown
  double occupancy = -1;   // share of the SM's threads
};

/// One launch group with one set of tunable values.
struct VariantCheck {
  int group = 0;
  std::map<std::string, int64_t> tunes;
  std::map<std::string, int64_t> dims;  // dims that select it
  std::string compiler;
  std::optional<ports::CompileFailed> failed;
  std::vector<ports::CompileMessage> warnings;
  std::string plan_error;   // args(…) against the kernel's parameters, limits of the target
  std::string virtual_gpu;  // why the virtual GPU cannot run it; "": it can
  std::vector<LaunchCheck> launches;

  bool ok() const { return !failed && plan_error.empty(); }
};

/// A guard of the module, and dims that satisfy it. Not set: no probe reached it.
struct GroupCheck {
  std::string guard;  // "": always
  int line = 0;
  std::optional<std::map<std::string, int64_t>> example;
};

struct CheckReport {
  std::string target;
  std::string compiler;
  std::string resources_note;      // why registers and spills are unknown; "": they are known
  std::vector<std::string> notes;  // what the user should know about the check
  std::vector<std::string> dims;
  std::vector<GroupCheck> groups;
  std::vector<VariantCheck> variants;
  size_t assignments = 0;        // number of tunable combinations tried
  bool assignments_cut = false;  // there are more combinations
  bool ok() const;
};

/// `virtual_gpu` (may be null) loads each image, to find unsupported instructions early.
Result<CheckReport> check_module(const kernel::Module& module, const CheckRequest& request,
                                 ports::Compiler& compiler, ports::Device* virtual_gpu,
                                 const Progress& progress = {});

}  // namespace kw::single_run
