#include "os/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text.h"

namespace kw::os {
namespace {

// An empty mapping is not possible, so one page is mapped instead.
uint64_t mapped_size(uint64_t bytes) { return bytes == 0 ? 1 : bytes; }

Error memory_error(const char* what, uint64_t bytes, int code) {
  return environment_error("{} {} of shared memory: {}", what, human_bytes(bytes),
                           std::strerror(code));
}

}  // namespace

Result<SharedMemory> SharedMemory::create(uint64_t bytes) {
  const int fd = ::memfd_create("kernelwright", MFD_CLOEXEC);
  if (fd < 0) return memory_error("creating", bytes, errno);
  if (bytes > uint64_t{INT64_MAX} || ::ftruncate(fd, static_cast<off_t>(mapped_size(bytes))) != 0) {
    const int code = bytes > uint64_t{INT64_MAX} ? EFBIG : errno;
    ::close(fd);
    return memory_error("creating", bytes, code);
  }
  return attach(fd, bytes);
}

Result<SharedMemory> SharedMemory::attach(int fd, uint64_t bytes) {
  SharedMemory memory;
  memory.fd_ = fd;
  memory.size_ = bytes;
  struct stat st {};
  if (::fstat(fd, &st) != 0) {
    memory.fd_ = -1;
    return memory_error("attaching", bytes, errno);
  }
  // Touching a page behind the end of the file would raise SIGBUS.
  if (static_cast<uint64_t>(st.st_size) < bytes) return memory_error("attaching", bytes, EINVAL);
  void* data = ::mmap(nullptr, mapped_size(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return memory_error("mapping", bytes, errno);
  memory.data_ = static_cast<std::byte*>(data);
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, mapped_size(size_));
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kw::os
