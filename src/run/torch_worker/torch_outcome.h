// What became of asking the torch process. A reference that raises, hangs or returns nonsense is an
// ordinary outcome here, never an Error; so is a machine without torch.
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
  NoCuda,         // torch is there, but sees no such GPU
  BadSource,      // the reference's file does not compile or raises while it is loaded
  MissingModule,  // it imports something that is not installed
  NotFound,       // it has no such function
  BadArguments,   // what was given does not fit its parameters or weights
  Raised,         // it raised when called
  BadReturn,      // it returned something that is not made of tensors
  OutOfMemory,    // it wanted more memory than there is or than it may have
  Unsupported,    // this torch cannot do what was asked: a dtype, an export
  TimedOut,       // no answer in time; the process was killed
  Died,           // the process ended before it answered
  Garbled,        // the process answered something that is not an answer; it was killed
  Failed,         // we could not: no shared memory, no process, interrupted
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

/// One answer. Everything but the outcome and what was printed is meaningful when Ok only.
struct TorchAnswer {
  TorchOutcome outcome;
  Json body;                         // the verb's own (docs/torch-worker.md)
  std::vector<TorchTensor> outputs;  // in the order returned
  std::string printed;               // by the reference, last 64 KiB

  bool ok() const { return outcome.kind == TorchKind::Ok; }
};

/// "Raised: ValueError: no such mode", for messages.
std::string outcome_text(const TorchOutcome& outcome);

}  // namespace kw::torch_worker
