// Between a tensor's logical elements in row-major order and a buffer's storage, which may be
// strided.
#pragma once

#include "kernel/program.h"
#include "tensor/host_tensor.h"

namespace kw::engine {

/// Contiguous -> storage of `buffer`. Bytes that strides skip are 0xff: NaN, should a kernel ever
/// read them as floats.
tensor::HostTensor to_storage(const kernel::Buffer& buffer, tensor::HostTensor logical);
/// Storage of `buffer` -> contiguous.
tensor::HostTensor from_storage(const kernel::Buffer& buffer, tensor::HostTensor storage);

}  // namespace kw::engine
