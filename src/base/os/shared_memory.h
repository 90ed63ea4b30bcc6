// Anonymous shared memory (memfd) for bulk data between us and our workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/result.h"

namespace kw::os {

class SharedMemory {
 public:
  /// Creates `bytes` of zeroed shared memory; environment Error when the system refuses.
  static Result<SharedMemory> create(uint64_t bytes);
  /// Maps memory that another process created; takes ownership of the descriptor.
  static Result<SharedMemory> attach(int fd, uint64_t bytes);
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) noexcept;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }
  int fd() const { return fd_; }

 private:
  SharedMemory() = default;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  int fd_ = -1;
};

}  // namespace kw::os
