#include "gpu/spare_buffers.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "os/parallel.h"

namespace kw::gpu {
namespace {

// The allocator itself reuses smaller buffers.
constexpr size_t kWorthKeeping = size_t{1} << 20;
constexpr size_t kMostBytes = size_t{4} << 30;  // of all together
constexpr size_t kBytesPerThread = size_t{8} << 20;
constexpr size_t kMostThreads = 16;

}  // namespace

void copy_in_parts(std::byte* to, std::span<const std::byte> from) {
  const size_t most =
      std::min<size_t>(kMostThreads, std::max(1u, std::thread::hardware_concurrency()));
  const size_t parts = std::clamp<size_t>(from.size() / kBytesPerThread, 1, most);
  os::parallel_for(static_cast<int>(parts), static_cast<int64_t>(parts), [&](int, int64_t unit) {
    const auto part = static_cast<size_t>(unit);
    const size_t begin = from.size() / parts * part;
    const size_t end = part + 1 == parts ? from.size() : from.size() / parts * (part + 1);
    if (end > begin) std::memcpy(to + begin, from.data() + begin, end - begin);
  });
}

tensor::Bytes SpareBuffers::take(size_t bytes) {
  const std::lock_guard guard(mutex_);
  auto best = spare_.end();
  for (auto it = spare_.begin(); it != spare_.end(); ++it) {
    const bool fits = it->capacity() >= bytes && it->capacity() / 4 <= bytes;
    if (fits && (best == spare_.end() || it->capacity() < best->capacity())) best = it;
  }
  if (best == spare_.end()) return {};
  tensor::Bytes found = std::move(*best);
  spare_.erase(best);
  return found;
}

tensor::Bytes SpareBuffers::copy_of(std::span<const std::byte> bytes) {
  tensor::Bytes made = bytes.size() < kWorthKeeping ? tensor::Bytes() : take(bytes.size());
  made.remake(bytes.size());
  copy_in_parts(made.data(), bytes);
  return made;
}

void SpareBuffers::give(std::vector<tensor::HostTensor> tensors) {
  const std::lock_guard guard(mutex_);
  for (tensor::HostTensor& tensor : tensors) {
    const size_t bytes = tensor.data.capacity();
    if (bytes >= kWorthKeeping && bytes <= kMostBytes) spare_.push_back(std::move(tensor.data));
  }
  size_t total = 0;
  for (const auto& buffer : spare_) total += buffer.capacity();
  while (total > kMostBytes) {
    total -= spare_.front().capacity();
    spare_.erase(spare_.begin());
  }
}

}  // namespace kw::gpu
