// Honest kernel modules of every kind: what code generation writes for the tasks of the suites, and
// kernels written by hand (twins of the cheats, plain kernels to be optimised, examples).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "task/task.h"

namespace kw::honest {

struct HonestModule {
  std::string name;    // "suites/internal/gelu_fp16: gelu=pointwise"
  std::string source;  // "generated" or "by hand"
  std::string text;
  std::shared_ptr<const task::Task> task;
  std::vector<std::map<std::string, int64_t>> tunes;  // assignments of its tunables; never empty
};

/// Every schedule of every task of the suites, once for the first task that has it and then as many
/// more designs per task as `designs` allows; and all kernels written by hand. `only`: those whose
/// name contains the text. `source`: the folder of the project; "": where it was built.
Result<std::vector<HonestModule>> honest_modules(size_t designs, const std::string& only,
                                                 const std::string& source = "");

}  // namespace kw::honest
