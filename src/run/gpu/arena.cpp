#include "gpu/arena.h"

#include <algorithm>

namespace kw::gpu {
namespace {

constexpr uint64_t kLeastBytes = uint64_t{1} << 20;
// Memory is freed when it is over kKeepBytes and over four times the need for kPatience requests.
// Otherwise it is kept: finding and pinning pages again takes longer than copying.
constexpr uint64_t kKeepBytes = uint64_t{256} << 20;
constexpr int kPatience = 1000;

}  // namespace

Range Arena::reserve(uint64_t bytes) {
  const Range range{used_, bytes};
  used_ += (bytes + 255) / 256 * 256;
  return range;
}

Status Arena::commit() {
  const uint64_t needed = std::max(used_, kLeastBytes);
  const bool fits = memory_ && memory_->size() >= needed;
  const bool wasteful = memory_ && memory_->size() > kKeepBytes && memory_->size() / 4 > needed;
  wasted_ = fits && wasteful ? wasted_ + 1 : 0;
  if (fits && wasted_ <= kPatience) return Done{};
  wasted_ = 0;
  memory_.reset();
  memory_.emplace(KW_TRY(os::SharedMemory::create(needed)));
  ++generation_;
  return Done{};
}

}  // namespace kw::gpu
