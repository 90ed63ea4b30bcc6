// The shared memory through which tensors travel to the worker and back. Laid out anew for every
// request.
#pragma once

#include <optional>
#include <vector>

#include "gpu/messages.h"
#include "os/shared_memory.h"

namespace kw::gpu {

class Arena {
 public:
  /// Starts a new layout; ranges given out before are void.
  void clear() { used_ = 0; }
  /// Reserves bytes at a 256-byte boundary. Nothing is backed until commit().
  Range reserve(uint64_t bytes);
  /// Makes the reserved bytes exist. Keeps the memory of earlier requests when it fits and has not
  /// been far too large for long.
  Status commit();

  const os::SharedMemory& memory() const { return *memory_; }
  /// Changes whenever the memory is another one; never 0 after commit().
  uint64_t generation() const { return generation_; }
  std::byte* at(const Range& range) const { return memory_->data() + range.offset; }

 private:
  std::optional<os::SharedMemory> memory_;
  uint64_t used_ = 0;
  uint64_t generation_ = 0;
  int wasted_ = 0;  // requests in a row that needed far less
};

}  // namespace kw::gpu
