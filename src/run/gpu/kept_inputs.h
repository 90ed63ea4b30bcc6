// Inputs that a worker keeps on the device from request to request, named by their contents. A
// candidate runs in the same address space and may overwrite them. So every request hashes them
// again before use.
#pragma once

#include <map>
#include <vector>

#include "cuda/buffers.h"
#include "gpu/messages.h"

namespace kw::gpu {

/// The key of contents with this audit_hash. The hash pads the last word with zeros, so 4 and 8
/// zero bytes have the same hash; the size distinguishes them.
inline constexpr uint64_t kSizeFactor = 0x9e3779b97f4a7c15u;
constexpr InputKey input_key(uint64_t hash, uint64_t bytes) { return hash + bytes * kSizeFactor; }
constexpr uint64_t hash_of_key(InputKey key, uint64_t bytes) { return key - bytes * kSizeFactor; }

class KeptInputs {
 public:
  KeptInputs(const cuda::Context& context, cuda::JobKernels& kernels)
      : context_(context), kernels_(kernels) {}

  /// Copies bytes to the device under a key. When memory is short it drops other inputs, which
  /// take_lost() then reports.
  cuda::MaybeFault keep(InputKey key, std::span<const std::byte> bytes);
  void drop(InputKey key) { kept_.erase(key); }
  /// The contents under a key. Empty, and the key is reported as lost, when they are missing or
  /// changed.
  cuda::FaultOr<cuda::Source> find(InputKey key);
  /// Begins a request: each key is checked again at its first use.
  void new_request() { proven_.clear(); }
  /// Returns the keys lost since the last call.
  std::vector<InputKey> take_lost();

 private:
  const cuda::Context& context_;
  cuda::JobKernels& kernels_;
  std::map<InputKey, cuda::DeviceMemory> kept_;
  std::map<InputKey, bool> proven_;
  std::vector<InputKey> lost_;
};

}  // namespace kw::gpu
