// The shared memory that carries tensors to the worker and back. Every request has its own layout.
#pragma once

#include <optional>

#include "gpu/messages.h"
#include "os/shared_memory.h"

namespace kw::gpu {

class Arena {
 public:
  /// Starts a new layout; ranges returned before become invalid.
  void clear() { used_ = 0; }
  /// Reserves bytes at a 256-byte boundary. There is no memory behind them until commit().
  Range reserve(uint64_t bytes);
  /// Allocates the reserved bytes. Keeps the memory of earlier requests when it fits and has not
  /// been far too large for long.
  Status commit();

  const os::SharedMemory& memory() const { return *memory_; }
  /// Changes whenever the memory is replaced; never 0 after commit().
  uint64_t generation() const { return generation_; }
  std::byte* at(const Range& range) const { return memory_->data() + range.offset; }

 private:
  std::optional<os::SharedMemory> memory_;
  uint64_t used_ = 0;
  uint64_t generation_ = 0;
  int wasted_ = 0;  // consecutive requests that needed far less
};

}  // namespace kw::gpu
