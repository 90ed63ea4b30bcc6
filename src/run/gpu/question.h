// What the main process asks of the worker: programs, their pools of inputs and the keys of these.
// Made before it is known which inputs the worker keeps already.
#pragma once

#include <vector>

#include "gpu/messages.h"
#include "kernel/caller_buffers.h"
#include "ports/device.h"

namespace kw::gpu {

struct Question {
  const std::vector<ports::TimedProgram>* programs = nullptr;
  std::vector<std::vector<std::vector<InputKey>>> keys;  // [program][set][buffer]; 0: not kept
  int output_places = 0;                                 // per program
  uint64_t bytes = 0;                                    // of all inputs and outputs, once each
};

/// Checks the tensors and computes their keys. Blame::Input unless they fit the programs' buffers.
/// Inputs over `most_kept` bytes are not kept by the worker.
Result<Question> ask_about(const std::vector<ports::TimedProgram>& programs, int output_places,
                           uint64_t most_kept);

}  // namespace kw::gpu
