#include "gpu/kept_inputs.h"

#include <utility>

namespace kw::gpu {
namespace {

constexpr double kHashSeconds = 30;

}  // namespace

cuda::MaybeFault KeptInputs::keep(InputKey key, std::span<const std::byte> bytes) {
  auto memory = cuda::DeviceMemory::allocate(context_, bytes.size(), "a kept input");
  if (!memory && memory.error().status == ports::RunStatus::OutOfMemory && !kept_.empty()) {
    for (const auto& [other, unused] : kept_) lost_.push_back(other);
    kept_.clear();
    memory = cuda::DeviceMemory::allocate(context_, bytes.size(), "a kept input");
  }
  if (!memory) return std::move(memory).error();
  KW_TRY(context_.upload(memory->address(), bytes.data(), bytes.size(), "uploading an input"));
  kept_[key] = std::move(memory).value();
  proven_[key] = true;  // just copied from the host
  return cuda::MaybeFault(Done{});
}

cuda::FaultOr<cuda::Source> KeptInputs::find(InputKey key) {
  auto found = kept_.find(key);
  if (found == kept_.end()) {
    lost_.push_back(key);
    return cuda::Source{};
  }
  const cuda::DeviceSpan span{found->second.address(), found->second.size()};
  if (!proven_[key]) {
    const auto hashes = KW_TRY(kernels_.hash_now({span}, 0, cuda::deadline_in(kHashSeconds)));
    if (input_key(hashes[0], span.bytes) != key) {
      kept_.erase(found);
      lost_.push_back(key);
      return cuda::Source{};
    }
    proven_[key] = true;
  }
  cuda::Source source;
  source.device = span;
  source.hash = hash_of_key(key, span.bytes);
  return source;
}

std::vector<InputKey> KeptInputs::take_lost() { return std::exchange(lost_, {}); }

}  // namespace kw::gpu
