// Converts between dense host tensors and a buffer's storage, which may have strides.
#pragma once

#include <functional>
#include <string>

#include "kernel/program.h"
#include "tensor/host_tensor.h"

namespace kw::vgpu {

/// Why the buffer's description cannot be used; "" when it can.
std::string layout_problem(const kernel::Buffer& buffer);
/// True when the elements fill the storage in row-major order without gaps.
bool is_dense(const kernel::Buffer& buffer);
/// Bytes of its elements, without the gaps that strides leave.
int64_t logical_bytes(const kernel::Buffer& buffer);
/// Calls visit(dense index, storage index) for every element in row-major order.
void for_each_element(const kernel::Buffer& buffer,
                      const std::function<void(int64_t, int64_t)>& visit);
/// Fills `storage` (buffer.bytes) from a dense tensor. Returns false when the tensor has the wrong
/// size.
bool spread(const kernel::Buffer& buffer, const tensor::HostTensor& from, std::byte* storage);
/// Returns the dense tensor that `storage` holds.
tensor::HostTensor collect(const kernel::Buffer& buffer, const std::byte* storage);

}  // namespace kw::vgpu
