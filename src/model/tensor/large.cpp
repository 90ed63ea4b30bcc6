#include "tensor/large.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace kw::tensor {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMapped = 2 * kHugePage;  // larger blocks are separate mappings

size_t mapped_bytes(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

// Starts at the boundary of a huge page, so that one page fault maps 2 MiB instead of 4 KiB.
void* map_pages(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() - 2 * kHugePage) throw std::bad_alloc();
  const size_t wanted = mapped_bytes(bytes), asked = wanted + kHugePage;
  void* block = ::mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  auto* first = static_cast<std::byte*>(block);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(first) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(first, before);
  if (before < kHugePage) ::munmap(first + before + wanted, kHugePage - before);
  ::madvise(first + before, wanted, MADV_HUGEPAGE);  // without huge pages, small ones are used
  return first + before;
}

}  // namespace

void* take_zeroed(size_t bytes) {
  if (bytes >= kMapped) return map_pages(bytes);
  void* block = std::calloc(bytes > 0 ? bytes : 1, 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_back(void* block, size_t bytes) noexcept {
  if (bytes >= kMapped) {
    ::munmap(block, mapped_bytes(bytes));
  } else {
    std::free(block);
  }
}

}  // namespace kw::tensor
