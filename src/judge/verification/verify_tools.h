// Opens what verification needs on this machine: the cross-check and the oracle.
#pragma once

#include <memory>
#include <string>

#include "ports/oracle.h"
#include "task/task.h"
#include "torch_worker/torch_process.h"
#include "verification/verify.h"

namespace kw::verification {

/// VerifyTools::cross_check on this machine. Agreement is stored in the cache folder.
CrossChecking open_cross_check(CrossCheckMode mode, const std::string& version,
                               std::shared_ptr<torch_worker::TorchProcess> torch);

/// The same, but starts now for this task, in parallel with other work. Only this check may use its
/// torch process until its result is taken.
CrossChecking begin_cross_check(CrossChecking check, const task::Task& task);

/// The interpreter. With a GPU, kernels compute large truths in a separate worker, started when
/// first needed. $KERNELWRIGHT_GPU_TRUTHS=0 disables them. The compiler must outlive the oracle.
struct OracleRequest {
  ports::Compiler* compiler = nullptr;
  const ports::Device* gpu = nullptr;  // the GPU of the candidates; null: none
  int ordinal = 0;                     // its number
};
std::unique_ptr<ports::Oracle> open_oracle(const OracleRequest& request = {});

}  // namespace kw::verification
