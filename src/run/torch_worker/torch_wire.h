// A call and its tensors as a request to the torch process, and a frame as its answer
// (docs/torch-worker.md). For torch_process.cpp only.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "os/shared_memory.h"
#include "torch_worker/torch_call.h"
#include "torch_worker/torch_outcome.h"

namespace kw::torch_worker {

/// The call's members of the request; its tensors are appended to the list they are counted in.
void put_call(const TorchCall& call, Json* request,
              std::vector<const tensor::HostTensor*>* tensors);

/// Shared memory with the tensors in it, and where each lies.
Result<os::SharedMemory> lay_out(const std::vector<const tensor::HostTensor*>& tensors,
                                 Json* places);

/// A frame as the answer to the request of this id; trusts nothing in it.
TorchAnswer read_reply(const std::string& frame, int64_t id, int fd);

}  // namespace kw::torch_worker
