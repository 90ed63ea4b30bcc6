// One torch process shared by the tests of a program. Importing torch takes seconds, and our own
// test sources cannot disturb each other.
#pragma once

#include <cstdint>
#include <memory>

#include "torch_worker/torch_process.h"
#include "torch_worker/torch_python.h"

namespace kw::torch_worker {

/// Null when no Python here can import torch.
inline std::shared_ptr<TorchProcess> shared_torch() {
  static const auto process = []() -> std::shared_ptr<TorchProcess> {
    if (find_torch_python().path.empty()) return nullptr;
    TorchOptions options;
    options.memory_bytes = uint64_t{4} << 30;
    options.many_references = true;
    return std::make_shared<TorchProcess>(options);
  }();
  return process;
}

}  // namespace kw::torch_worker
