// Applies concrete dims to a module: tunable values, the launch group, the kernels to compile. All
// of it is known before compiling; instantiate.h does the rest.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arch/arch.h"
#include "core/result.h"
#include "kernel/module.h"

namespace kw::kernel {

struct Bindings {
  std::map<std::string, int64_t> dims;
  std::map<std::string, int64_t> tunes;   // missing: the first values that satisfy every `where`
  std::map<std::string, double> scalars;  // floating scalars; missing: their default
  std::map<std::string, int64_t>
      integer_scalars;           // integer and bool scalars; missing: their default
  std::set<std::string> absent;  // optional inputs that are not given
  arch::Target target{};
  int sms = 0;           // 0: the target's default
  int64_t l2_bytes = 0;  // 0: the target's default
};

struct Selection {
  int group = 0;                                         // index into Module::groups
  std::vector<std::pair<std::string, int64_t>> defines;  // every tunable with its value
  std::vector<std::string> kernels;  // distinct name expressions with values substituted
};

/// Picks the first group whose `when` holds. Input Errors: missing or unknown names, values out of
/// range, a feature that no device offers yet, and no group holds ("shape outside the module's
/// domain", with the values of each guard).
Result<Selection> select(const Module& module, const Bindings& bindings);

/// Assignments of all tunables that satisfy every `where`, in the order of the lists, at most
/// `limit`.
std::vector<std::map<std::string, int64_t>> tune_space(const Module& module, size_t limit);

/// Dims from the shapes of given tensors. Input Error when shapes contradict each other or the
/// module.
Result<std::map<std::string, int64_t>> infer_dims(
    const Module& module, const std::map<std::string, std::vector<int64_t>>& shapes);

}  // namespace kw::kernel
