// Candidates against PyTorch's own ways of doing the same work: both timed inside the torch
// process, interleaved, by the one clock (src/capi). What the samples mean is bench's business.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gpu/lock.h"
#include "ports/device.h"
#include "torch_worker/torch_process.h"

namespace kw::timing {

/// A candidate's image and program, with its pool of inputs as exec::TimedProgram has it.
struct BaselineCandidate {
  const ports::Compiled* compiled = nullptr;
  const kernel::Program* program = nullptr;
  std::vector<ports::InputViews> pool;
};

struct BaselineRequest {
  torch_worker::TorchCall
      call;  // the reference at the first entry of the pool, device "cuda" or "cuda:N"
  /// Entries of the pool: the call's tensor arguments, then its tensor weights, in their order. At
  /// least one.
  std::vector<std::vector<const tensor::HostTensor*>> pool;
  std::vector<BaselineCandidate> candidates;  // may be empty
  /// "eager", "compile", "max-autotune-no-cudagraphs" as device time; "reduce-overhead" and
  /// "max-autotune" as the host sees them; "py:package.module.function" like eager.
  std::vector<std::string> modes;
  ports::TimeProtocol protocol;  // copies_out must be 0
  /// One round of captures and samples per seed, in place of the protocol's; at least one. What the
  /// process compiled and the inputs on the device are shared by them.
  std::vector<uint64_t> seeds = {1};
  bool want_outputs = false;     // what each mode gives at the first entry in the first round
  double timeout_seconds = 600;  // compiling and autotuning included
  // The GPU to be locked meanwhile; "": the caller holds the lock.
  std::string uuid;
  double lock_timeout_seconds = 60;
  gpu::Notice notice;
};

struct BaselineResult {
  std::string mode;
  torch_worker::TorchOutcome outcome;              // of making it ready
  std::optional<ports::TimedResult> timed;         // device time, where the mode has one
  std::vector<double> host_us;                     // call to completion, one per sample
  std::vector<torch_worker::TorchTensor> outputs;  // when wanted
};

struct BaselineRound {
  ports::RunStatus status = ports::RunStatus::Completed;
  std::string message;                         // why, when not Completed
  std::vector<ports::TimedResult> candidates;  // parallel to the request's, when Completed
  std::vector<BaselineResult> baselines;       // parallel to the modes
};

struct BaselinesTimed {
  torch_worker::TorchOutcome outcome;  // of the process; the rest means something when Ok only
  /// Parallel to the seeds; shorter when one was not Completed, which is then the last.
  std::vector<BaselineRound> rounds;
  ports::DeviceInfo device;
};

/// An Error only for what is neither the candidates', nor the reference's, nor torch's doing.
Result<BaselinesTimed> time_baselines(torch_worker::TorchProcess& torch,
                                      const BaselineRequest& request);

}  // namespace kw::timing
