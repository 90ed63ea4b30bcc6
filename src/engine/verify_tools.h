// What the judge's stories start from, opened on this machine: the task behind a reference, and the
// oracle.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/verify.h"
#include "exec/oracle.h"
#include "frontend/load.h"
#include "task/task.h"

namespace kw::engine {

/// The torch process of one command; nothing starts before it is asked.
std::shared_ptr<oracle::TorchProcess> open_torch();

struct ReferenceRequest {
  std::string path;                     // a Python file or a task folder
  std::string function;                 // "" = the only one, or the one called reference
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // instead of the file's own
  std::shared_ptr<oracle::TorchProcess> torch = {};  // shared with what else asks it; may be null
  bool spare_inputs = false;  // an input the reference has no parameter for is no error
  frontend::LauncherParameters launcher = {};  // of a flat reference
};
Result<task::Task> load_reference(const ReferenceRequest& request);

/// "tf32,deterministic" into a task's precision; input Error with the words there are.
Status read_precision(const std::string& words, task::Precision& precision);

/// VerifyTools::cross_check on this machine; agreement is remembered in the cache folder.
CrossChecking open_cross_check(CrossCheckMode mode, const std::string& version,
                               std::shared_ptr<oracle::TorchProcess> torch);

/// The same, begun now for a task, while something else takes its time. Nobody else may use its
/// torch process until it is asked.
CrossChecking begin_cross_check(CrossChecking check, const task::Task& task);

/// The interpreter; beside a GPU, with kernels for large truths in a worker of its own, which is
/// started when one is asked for. $KERNELWRIGHT_GPU_TRUTHS=0 turns them off. The compiler must
/// outlive the oracle.
struct OracleRequest {
  exec::Compiler* compiler = nullptr;
  const exec::Device* gpu = nullptr;  // which candidates run on; null: none
  int ordinal = 0;                    // its number
};
std::unique_ptr<exec::Oracle> open_oracle(const OracleRequest& request = {});

}  // namespace kw::engine
