// Reuses host memory for outputs. Every cell of every candidate returns outputs, and finding new
// pages for them takes longer than filling them.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "tensor/host_tensor.h"

namespace kw::gpu {

/// Copies; large copies use several threads.
void copy_in_parts(std::byte* to, std::span<const std::byte> from);

/// Safe to use from several threads.
class SpareBuffers {
 public:
  /// Copies the bytes into memory of their own, reusing a spare buffer of the size if there is one.
  tensor::Bytes copy_of(std::span<const std::byte> bytes);
  /// Takes buffers for reuse; frees those that are not worth keeping.
  void give(std::vector<tensor::HostTensor> tensors);

 private:
  tensor::Bytes take(size_t bytes);

  std::mutex mutex_;
  std::vector<tensor::Bytes> spare_;  // longest unused first
};

}  // namespace kw::gpu
