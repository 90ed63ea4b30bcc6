// Encodes a call and its tensors as a request to the torch process, and decodes its answer
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

/// Fills in the reference's text and those of the files that it imports from its folder: the
/// process cannot read the user's files.
void add_texts(TorchSource* source);

/// Sets the call's members of the request and appends its tensors to the list; members name them by
/// index.
void put_call(const TorchCall& call, Json* request,
              std::vector<const tensor::HostTensor*>* tensors);

/// Shared memory that holds the tensors; `places` gets the place of each.
Result<os::SharedMemory> lay_out(const std::vector<const tensor::HostTensor*>& tensors,
                                 Json* places);

/// Decodes a frame as the answer to the request with this id. Checks everything in it.
TorchAnswer read_reply(const std::string& frame, int64_t id, int fd);

}  // namespace kw::torch_worker
