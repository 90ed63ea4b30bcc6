#include "verification/verify_tools.h"

#include <cstdlib>
#include <future>
#include <string_view>

#include "gpu/gpu_device.h"
#include "os/files.h"
#include "truth/interpreter.h"
#include "truth_gpu/gpu_oracle.h"

namespace kw::verification {

CrossChecking open_cross_check(CrossCheckMode mode, const std::string& version,
                               std::shared_ptr<torch_worker::TorchProcess> torch) {
  const CrossCheckOptions options{mode, version, os::cache_directory()};
  return [options, torch](const task::Task& task) {
    truth::Interpreter interpreter;
    return cross_check_reference(task, options, cross_check_torch(interpreter, *torch));
  };
}

CrossChecking begin_cross_check(CrossChecking check, const task::Task& task) {
  auto begun = std::make_shared<std::future<Result<CrossCheckReport>>>(
      std::async([check, task] { return check(task); }));
  return [check, begun, hash = task::task_hash(task)](const task::Task& asked) {
    return begun->valid() && task::task_hash(asked) == hash ? begun->get() : check(asked);
  };
}

std::unique_ptr<ports::Oracle> open_oracle(const OracleRequest& request) {
  const char* wanted = std::getenv("KERNELWRIGHT_GPU_TRUTHS");
  const bool off = wanted != nullptr && std::string_view(wanted) == "0";
  const bool real = request.gpu != nullptr && !request.gpu->info().is_virtual;
  if (off || !real || request.compiler == nullptr) return std::make_unique<truth::Interpreter>();
  const auto open = [ordinal = request.ordinal]() -> Result<std::unique_ptr<ports::Device>> {
    gpu::GpuOptions options;
    options.kept_part = 16;  // inputs of truths are rarely used twice
    return std::unique_ptr<ports::Device>(KW_TRY(gpu::GpuDevice::open(ordinal, options)));
  };
  return std::make_unique<truth_gpu::GpuOracle>(*request.compiler, open);
}

}  // namespace kw::verification
