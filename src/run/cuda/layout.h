// Where a buffer's elements lie in its storage, and copying between dense host tensors and that
// storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.h"
#include "kernel/program.h"

namespace kw::cuda {

/// True when the elements fill the storage in row-major order without gaps.
bool is_dense(const kernel::Buffer& buffer);
/// Bytes of the dense host tensor. Call after check_layout.
uint64_t dense_bytes(const kernel::Buffer& buffer);
/// Blame::Input unless every element lies inside `bytes` and shape, strides and align make sense.
Status check_layout(const kernel::Buffer& buffer);
/// Spreads dense elements over the storage; bytes between elements stay as they are.
void scatter(const kernel::Buffer& buffer, std::span<const std::byte> dense,
             std::span<std::byte> storage);
/// Collects the elements from the storage into a dense tensor.
void gather(const kernel::Buffer& buffer, std::span<const std::byte> storage,
            std::span<std::byte> dense);

}  // namespace kw::cuda
