#include "worker_main.h"

#include <string_view>

#include "commands/workers.h"

namespace kw::corpus {

std::optional<int> serve_as_worker(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "worker-compile") return commands::compile_worker();
  if (command == "worker-gpu") return commands::gpu_worker();
  return std::nullopt;
}

}  // namespace kw::corpus
