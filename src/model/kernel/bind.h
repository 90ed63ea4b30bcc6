// Bindings turned into a Scope, tunables resolved, launch groups unrolled. Shared by select and
// instantiate; internal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/select.h"

namespace kw::kernel {

/// Refuses unknown or missing names and values out of range.
Status check_bindings(const Module& module, const Bindings& bindings);

/// Every tunable with a value: those given, and for the rest the first combination that satisfies
/// every `where`.
Result<std::map<std::string, int64_t>> resolve_tunes(const Module& module,
                                                     const std::map<std::string, int64_t>& given);

/// Values for every name but blocks_per_sm(). The scope refers to the module's lets.
Scope make_scope(const Module& module, const Bindings& bindings,
                 const std::map<std::string, int64_t>& tunes);

/// One launch of an unrolled group.
struct Step {
  const LaunchDecl* launch = nullptr;
  const RepeatDecl* repeat = nullptr;  // nullptr: outside any repeat
  int64_t iteration = 0;

  /// Gives the repeat variable its value, or takes it away.
  void enter(Scope& scope) const;
  void leave(Scope& scope) const;
};

/// The launches of a group in order, repeats unrolled.
Result<std::vector<Step>> unroll(const Group& group, const Scope& scope);

/// The launched kernel with plan names in its template arguments replaced by their values.
Result<std::string> kernel_expression(const LaunchDecl& launch, const Module& module,
                                      const Scope& scope);

}  // namespace kw::kernel
