// The outcome of a request to the torch process. A reference that raises, hangs or returns bad
// values is an ordinary outcome here, never an Error. So is a machine without torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "tensor/host_tensor.h"

namespace kw::torch_worker {

enum class TorchKind : uint8_t {
  Ok,
  NoTorch,        // no Python here can import torch
  NoCuda,         // torch is installed, but sees no such GPU
  BadSource,      // the reference's file does not compile or raises while it is loaded
  MissingModule,  // it imports a module that is not installed
  NotFound,       // it has no such function
  BadArguments,   // the arguments do not fit its parameters or weights
  Raised,         // it raised when called
  BadReturn,      // it returned a value that is not made of tensors
  OutOfMemory,    // it needed more memory than there is or than it may use
  Unsupported,    // this torch cannot do it: a dtype, an export
  TimedOut,       // no answer in time; the process was killed
  Died,           // the process ended before it answered
  Garbled,        // the process sent an invalid answer; it was killed
  Failed,         // kernelwright failed: no shared memory, no process, interrupted
};
/// "Ok", "NoTorch", …: as the worker spells them.
const char* torch_kind_name(TorchKind kind);
std::optional<TorchKind> torch_kind_from_name(std::string_view name);

struct TorchOutcome {
  TorchKind kind = TorchKind::Ok;
  std::string message;    // one line; "" when Ok
  std::string traceback;  // its last lines, without the worker's own frames; "" when there is none
};

struct TorchTensor {
  std::string name;
  tensor::HostTensor tensor;
};

/// One answer. Fields other than `outcome` and `printed` are valid only when Ok.
struct TorchAnswer {
  TorchOutcome outcome;
  Json body;                         // of this verb (docs/torch-worker.md)
  std::vector<TorchTensor> outputs;  // in the order returned
  std::string printed;               // by the reference, last 64 KiB

  bool ok() const { return outcome.kind == TorchKind::Ok; }
};

/// For messages: "Raised: ValueError: no such mode".
std::string outcome_text(const TorchOutcome& outcome);

}  // namespace kw::torch_worker
