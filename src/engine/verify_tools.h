// What the judge's stories start from, opened on this machine: the task behind a reference, and the
// oracle.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/oracle.h"
#include "task/task.h"

namespace kw::engine {

struct ReferenceRequest {
  std::string path;                     // a Python file or a task folder
  std::string function;                 // "" = the only one, or the one called reference
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // instead of the file's own
};
Result<task::Task> load_reference(const ReferenceRequest& request);

std::unique_ptr<exec::Oracle> open_oracle();

}  // namespace kw::engine
