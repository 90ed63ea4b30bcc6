// The `sass` command: the machine code of a module, its counts, its differences from another
// module, and whether it shows a method. Nothing is run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "binding/bind.h"
#include "compile/disassemble.h"
#include "core/json.h"
#include "core/result.h"
#include "ports/compiler.h"
#include "profile/sass.h"
#include "profile/sass_verdict.h"
#include "single_run/run_module.h"

namespace kw::evidence {

struct SassRequest {
  binding::BindingRequest bindings;  // dims may be incomplete; missing ones are probed
  std::string target = "sm_90";
  std::string function;                     // only kernels with this in their name; "": all
  const kernel::Module* against = nullptr;  // module to compare with; borrowed
  std::string method;                       // of the catalogue, to look for
  double timeout_seconds = 60;
  std::optional<compile::Disassembler> disassembler;  // not set: search for it
};

/// The machine code of one kernel.
struct SassKernel {
  std::string name;  // as launched: "rms_norm<256, 2>"
  profile::SassFunction code;
};

struct SassReport {
  std::string module, target, compiler;
  std::vector<SassKernel> kernels;
  std::string other;  // what it was compared with; "": nothing
  std::vector<SassKernel> other_kernels;
  std::string method;
  std::optional<profile::SassVerdict> verdict;  // of the method
  std::vector<std::string> notes;

  /// The counts of all kernels of each side.
  profile::SassFacts facts() const;
  profile::SassFacts other_facts() const;
};

/// A method is judged against the module in `against`, otherwise against this module with the
/// method switched off by its own `off` values. Both are compared at one shape. Errors: no compiler
/// here makes cubins, no disassembler (Blame::Environment); it does not compile, no such kernel or
/// method (Blame::Input).
Result<SassReport> show_sass(const kernel::Module& module, const SassRequest& request,
                             ports::Compiler& compiler, const single_run::Progress& progress = {});

/// `raw`: with every instruction.
Json to_json(const SassReport& report, bool raw);

}  // namespace kw::evidence
