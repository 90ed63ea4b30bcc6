// The story of `sass`: the machine code a module becomes, what it consists of, how it differs from
// another module's, and whether a method can be seen in it. Nothing is run.
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
#include "single_run/run.h"

namespace kw::evidence {

struct SassRequest {
  binding::BindingRequest bindings;  // dims may be incomplete: those missing are probed
  std::string target = "sm_90";
  std::string function;                     // only kernels with this in their name; "" = all
  const kernel::Module* against = nullptr;  // compared with; borrowed
  std::string method;                       // of the catalogue: can it be seen?
  double timeout_seconds = 60;
  std::optional<compile::Disassembler> disassembler;  // nothing: looked for
};

/// One kernel's machine code.
struct SassKernel {
  std::string name;  // as launched: "rms_norm<256, 2>"
  profile::SassFunction code;
};

struct SassReport {
  std::string module, target, compiler;
  std::vector<SassKernel> kernels;
  std::string other;  // what it was compared with; "" = nothing
  std::vector<SassKernel> other_kernels;
  std::string method;
  std::optional<profile::SassVerdict> verdict;  // of the method
  std::vector<std::string> notes;

  /// Of all kernels of each side together.
  profile::SassFacts facts() const;
  profile::SassFacts other_facts() const;
};

/// A method is judged against the module given in `against`, else against this module with the
/// method switched off by its own `off` values. Both are compared at one shape. Errors: no compiler
/// here makes cubins, nothing shows machine code (Blame::Environment); it does not compile, no such
/// kernel or method (Input).
Result<SassReport> show_sass(const kernel::Module& module, const SassRequest& request,
                             ports::Compiler& compiler, const single_run::Progress& progress = {});

/// `raw`: with every instruction.
Json to_json(const SassReport& report, bool raw);

}  // namespace kw::evidence
