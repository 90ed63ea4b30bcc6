#include "worker_main.h"

#include <string_view>

#include "compile/compile_worker.h"
#include "gpu/gpu_worker.h"

namespace kw::corpus {

std::optional<int> serve_as_worker(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "worker-compile") return compile::compile_worker_main();
  if (command == "worker-gpu") return gpu::gpu_worker_main();
  return std::nullopt;
}

}  // namespace kw::corpus
