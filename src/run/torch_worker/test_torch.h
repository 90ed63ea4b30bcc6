// The one torch process of a test program: importing torch takes seconds, and tests with texts of
// our own can share it.
#pragma once

#include <cstdint>
#include <memory>

#include "oracle/torch_process.h"
#include "oracle/torch_python.h"

namespace kw::oracle {

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

}  // namespace kw::oracle
