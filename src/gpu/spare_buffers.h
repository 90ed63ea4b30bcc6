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

/// Safe to use from several threads.
class SpareBuffers {
 public:
  /// The bytes in memory of their own, given back before if there is some of the size.
  std::vector<std::byte> copy_of(std::span<const std::byte> bytes);
  /// What is not worth keeping is freed.
  void give(std::vector<tensor::HostTensor> tensors);

 private:
  std::vector<std::byte> take(size_t bytes);

  std::mutex mutex_;
  std::vector<std::vector<std::byte>> spare_;  // longest unused first
};

}  // namespace kw::gpu
