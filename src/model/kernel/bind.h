// Turns bindings into a Scope, resolves tunables and unrolls launch groups. Shared by select and
// instantiate; internal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/select.h"

namespace kw::kernel {

/// Input Error for unknown or missing names and for values out of range.
Status check_bindings(const Module& module, const Bindings& bindings);

/// A value for every tunable. Tunables that are not given take the first combination that satisfies
/// every `where`.
Result<std::map<std::string, int64_t>> resolve_tunes(const Module& module,
                                                     const std::map<std::string, int64_t>& given);

/// Values for every name except blocks_per_sm(). The scope refers to the lets of the module.
Scope make_scope(const Module& module, const Bindings& bindings,
                 const std::map<std::string, int64_t>& tunes);

/// One launch of an unrolled group.
struct Step {
  const LaunchDecl* launch = nullptr;
  const RepeatDecl* repeat = nullptr;  // nullptr: outside every repeat
  int64_t iteration = 0;

  /// enter() sets the repeat variable, leave() removes it.
  void enter(Scope& scope) const;
  void leave(Scope& scope) const;
};

/// The launches of a group in order, with repeats unrolled.
Result<std::vector<Step>> unroll(const Group& group, const Scope& scope);

/// The launched kernel, with plan names in its template arguments replaced by their values.
Result<std::string> kernel_expression(const LaunchDecl& launch, const Module& module,
                                      const Scope& scope);

/// The distinct name expressions of the kernels that a group launches, with the values of the
/// scope. The scope is as before when it returns.
Result<std::vector<std::string>> kernels_of(const Module& module, const Group& group, Scope& scope);

}  // namespace kw::kernel
