// The methods a module claims, as switches: which are on for given tunables, and the module with
// one of them off. Says nothing about whether a claim is true.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/module.h"

namespace kw::kernel {

/// The values a module takes when nobody chooses.
Result<std::map<std::string, int64_t>> default_tunes(const Module& module);

/// The text with these values first in their `tune` lines, so that they are what it uses when
/// nobody chooses.
std::string with_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes);

/// Ids of the methods claimed with these values, each once. A condition that depends on more than
/// tunables counts as holding: there are shapes for which the claim is made.
std::vector<std::string> active_methods(const Module& module,
                                        const std::map<std::string, int64_t>& tunes);

/// A module with one method off.
struct SwitchedOff {
  std::string text;
  std::map<std::string, int64_t> tunes;
  std::vector<std::string> also_off;  // other methods that went with it
  std::vector<std::string> moved;     // tunables that had to change beside those of the switch
};

/// Switches a method off that is on by default; everything else stays as it is where the `where`
/// conditions allow it. Input Error: not claimed, not on, or no `off`.
Result<SwitchedOff> without_method(const Module& module, const std::string& id);

}  // namespace kw::kernel
