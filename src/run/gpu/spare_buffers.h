// Host memory that is used again: outputs come back for every cell of every candidate, and finding
// fresh pages for them takes longer than filling them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "tensor/host_tensor.h"

namespace kw::gpu {

/// A copy by several threads where it is large.
void copy_in_parts(std::byte* to, std::span<const std::byte> from);

/// Safe to use from several threads.
class SpareBuffers {
 public:
  /// The bytes in memory of their own, given back before if there is some of the size.
  tensor::Bytes copy_of(std::span<const std::byte> bytes);
  /// What is not worth keeping is freed.
  void give(std::vector<tensor::HostTensor> tensors);

 private:
  tensor::Bytes take(size_t bytes);

  std::mutex mutex_;
  std::vector<tensor::Bytes> spare_;  // longest unused first
};

}  // namespace kw::gpu
