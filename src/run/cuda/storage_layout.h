// Computes where a buffer's elements are in its storage, and copies between dense host tensors and
// that storage.
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
/// Blame::Input unless every element is inside `bytes` and shape, strides and align are valid.
Status check_layout(const kernel::Buffer& buffer);
/// Writes dense elements to their places in the storage; bytes between elements are not changed.
void scatter(const kernel::Buffer& buffer, std::span<const std::byte> dense,
             std::span<std::byte> storage);
/// Collects the elements from the storage into a dense tensor.
void gather(const kernel::Buffer& buffer, std::span<const std::byte> storage,
            std::span<std::byte> dense);

}  // namespace kw::cuda
