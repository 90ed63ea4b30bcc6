// The methods a module claims, as switches: which are on for given tunables, and the module with
// one of them off. It does not check whether a claim is true.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/module.h"

namespace kw::kernel {

/// The values of a module's tunables when none are given.
Result<std::map<std::string, int64_t>> default_tunes(const Module& module);

/// The text with these values first in their `tune` lines, so that they become the default.
std::string with_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes);

/// Ids of the methods claimed with these values, each once. A condition that also depends on other
/// names counts as true, because the claim holds for some shapes.
std::vector<std::string> active_methods(const Module& module,
                                        const std::map<std::string, int64_t>& tunes);

/// A module with one method off.
struct SwitchedOff {
  std::string text;
  std::map<std::string, int64_t> tunes;
  std::vector<std::string> also_off;  // other methods that are off too
  std::vector<std::string> moved;     // other tunables that had to change
};

/// Switches off a method that is on by default. All else stays unchanged if the `where` conditions
/// allow it. Input Error when the method is not claimed, not on, or has no `off`.
Result<SwitchedOff> without_method(const Module& module, const std::string& id);

}  // namespace kw::kernel
