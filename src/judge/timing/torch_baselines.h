// Times candidates and PyTorch's modes of the same work inside the torch process, interleaved, by
// one clock (clock_library). Does not interpret the samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gpu/lock.h"
#include "ports/device.h"
#include "torch_worker/torch_process.h"

namespace kw::timing {

/// A candidate's image and program, with its pool of inputs as in ports::TimedProgram.
struct BaselineCandidate {
  const ports::Compiled* compiled = nullptr;
  const kernel::Program* program = nullptr;
  std::vector<ports::InputViews> pool;
};

struct BaselineRequest {
  torch_worker::TorchCall
      call;  // the reference at the first entry of the pool, device "cuda" or "cuda:N"
  /// Entries of the pool: the call's tensor arguments, then its tensor weights, in order. At least
  /// one.
  std::vector<std::vector<const tensor::HostTensor*>> pool;
  std::vector<BaselineCandidate> candidates;  // may be empty
  /// "eager", "compile", "max-autotune-no-cudagraphs": device time. "reduce-overhead" and
  /// "max-autotune": host time. "py:package.module.function": like eager.
  std::vector<std::string> modes;
  ports::TimeProtocol protocol;  // copies_out must be 0
  /// One round of captures and samples per seed, instead of the protocol's seed; at least one.
  /// Rounds share the compiled code and the inputs on the device.
  std::vector<uint64_t> seeds = {1};
  bool want_outputs = false;     // the outputs of each mode at the first entry, first round
  double timeout_seconds = 600;  // includes compiling and autotuning
  // The GPU to lock during timing; "": the caller holds the lock.
  std::string uuid;
  double lock_timeout_seconds = 60;
  gpu::Notice notice;
};

struct BaselineResult {
  std::string mode;
  torch_worker::TorchOutcome outcome;              // of preparing the mode
  std::optional<ports::TimedResult> timed;         // device time, if the mode has one
  std::vector<double> host_us;                     // from call to completion, one per sample
  std::vector<torch_worker::TorchTensor> outputs;  // if requested
};

struct BaselineRound {
  ports::RunStatus status = ports::RunStatus::Completed;
  std::string message;                         // why, when not Completed
  std::vector<ports::TimedResult> candidates;  // parallel to the request's, when Completed
  std::vector<BaselineResult> baselines;       // parallel to the modes
};

struct BaselinesTimed {
  torch_worker::TorchOutcome outcome;  // of the process; the rest is valid only when Ok
  /// Parallel to the seeds. If a round is not Completed, it is the last one.
  std::vector<BaselineRound> rounds;
  ports::DeviceInfo device;
};

/// An Error only for failures that neither the candidates, the reference nor torch caused.
Result<BaselinesTimed> time_baselines(torch_worker::TorchProcess& torch,
                                      const BaselineRequest& request);

}  // namespace kw::timing
