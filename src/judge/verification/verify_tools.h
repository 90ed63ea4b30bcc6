// What verifying needs, opened on this machine: the cross-check and the oracle.
#pragma once

#include <memory>
#include <string>

#include "ports/oracle.h"
#include "task/task.h"
#include "torch_worker/torch_process.h"
#include "verification/verify.h"

namespace kw::verification {

/// VerifyTools::cross_check on this machine; agreement is remembered in the cache folder.
CrossChecking open_cross_check(CrossCheckMode mode, const std::string& version,
                               std::shared_ptr<torch_worker::TorchProcess> torch);

/// The same, begun now for a task, while something else takes its time. Nobody else may use its
/// torch process until it is asked.
CrossChecking begin_cross_check(CrossChecking check, const task::Task& task);

/// The interpreter; beside a GPU, with kernels for large truths in a worker of its own, which is
/// started when one is asked for. $KERNELWRIGHT_GPU_TRUTHS=0 turns them off. The compiler must
/// outlive the oracle.
struct OracleRequest {
  ports::Compiler* compiler = nullptr;
  const ports::Device* gpu = nullptr;  // which candidates run on; null: none
  int ordinal = 0;                     // its number
};
std::unique_ptr<ports::Oracle> open_oracle(const OracleRequest& request = {});

}  // namespace kw::verification
