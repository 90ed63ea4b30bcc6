#include "commands/workers.h"

#include "compile/worker.h"
#include "gpu/gpu_device.h"
#include "gpu/output_capture.h"
#include "gpu/profiled_call.h"
#include "gpu/worker.h"
#include "host_recording/worker.h"

namespace kw::commands {

int compile_worker() { return compile::compile_worker_main(); }
int gpu_worker() { return gpu::gpu_worker_main(); }
int captive_worker() { return host_recording::captive_worker_main(); }

Status gpu_canary() {
  const auto device = KW_TRY(gpu::GpuDevice::open(0));
  return device->health();
}

Status gpu_profiled_call(const std::string& file, const std::string& memory) {
  gpu::OutputCapture capture;
  return gpu::profiled_call(file, memory);
}

}  // namespace kw::commands
