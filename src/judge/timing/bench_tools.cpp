#include "timing/bench_tools.h"

#include <fmt/core.h>

#include "gpu/gpu_device.h"
#include "machine/devices.h"
#include "timing/calibration.h"
#include "torch_worker/torch_process.h"
#include "verification/verify_tools.h"
#include "vgpu/virtual_gpu.h"

namespace kw::timing {
struct BenchMachine::Parts {
  std::unique_ptr<ports::Device> virtual_gpu;
  std::unique_ptr<gpu::GpuDevice> gpu;
  std::unique_ptr<ports::Compiler> compiler;
  std::unique_ptr<ports::Oracle> oracle;
  std::unique_ptr<torch_worker::TorchProcess> torch,
      next_torch;  // in use; starting in the background

  static void begin(std::unique_ptr<torch_worker::TorchProcess>& process) {
    torch_worker::TorchOptions options;
    options.baselines = true;
    options.gpu = true;
    if (process == nullptr) process = std::make_unique<torch_worker::TorchProcess>(options);
    process->begin();
  }
  void renew_torch() {
    torch = std::move(next_torch);
    begin(torch);
  }
};

BenchMachine::BenchMachine() : parts_(std::make_unique<Parts>()) {}
BenchMachine::~BenchMachine() = default;

Result<std::unique_ptr<BenchMachine>> BenchMachine::open(const BenchOpenRequest& request) {
  std::unique_ptr<BenchMachine> machine(new BenchMachine());
  Parts& parts = *machine->parts_;
  std::string target = request.target;
  if (request.device != "auto" && request.device != "gpu" && request.device != "vgpu")
    return input_error("--device: '" + request.device + "' is not one of auto, gpu, vgpu");
  if (request.device != "vgpu") {
    gpu::GpuOptions options;
    options.lock_timeout_seconds = request.patience_seconds;
    options.notice = request.notice;
    auto opened = gpu::GpuDevice::open(0, options);
    if (opened) {
      parts.gpu = std::move(opened).value();
      if (target.empty()) target = parts.gpu->info().target;
    } else if (request.device == "gpu") {
      return std::move(opened).error();
    } else {
      machine->no_gpu_ = opened.error().message;
    }
  } else {
    machine->no_gpu_ = "--device vgpu was asked for";
  }
  parts.virtual_gpu = KW_TRY(vgpu::VirtualGpu::open(target));
  parts.compiler = KW_TRY(machine::open_compiler(request.compiler));
  parts.oracle = verification::open_oracle({parts.compiler.get(), parts.gpu.get(), 0});
  BenchTools& tools = machine->tools_;
  tools.verify = {parts.compiler.get(), parts.virtual_gpu.get(), parts.gpu.get(),
                  parts.oracle.get()};
  if (parts.gpu != nullptr) {
    gpu::GpuDevice* gpu = parts.gpu.get();
    tools.calibrate = [gpu] { return gpu->calibrate(kCalibrationSeconds); };
    tools.renew = [gpu] { gpu->renew(); };
  }
  if (request.torch && parts.gpu != nullptr) {
    Parts::begin(parts.torch);
    tools.baselines = [&parts](const BaselineRequest& ask) {
      return time_baselines(*parts.torch, ask);
    };
    tools.expect_torch = [&parts] { Parts::begin(parts.next_torch); };
    tools.renew_torch = [&parts] { parts.renew_torch(); };
  }
  return machine;
}

Result<std::shared_ptr<BenchMachine>> fitting_machine(std::shared_ptr<BenchMachine> shared,
                                                      BenchOpenRequest request, std::string* note) {
  std::shared_ptr<BenchMachine> machine = std::move(shared);
  if (machine == nullptr) machine = KW_TRY(BenchMachine::open(request));
  const ports::Device* gpu = machine->tools().verify.gpu;
  if (gpu == nullptr || request.target.empty()) return machine;
  const std::string here = gpu->info().target;
  if (here == request.target || here + "a" == request.target) return machine;
  if (request.device == "gpu") {
    return input_error("--target {} cannot run on this GPU, which is {}", request.target, here);
  }
  *note =
      fmt::format("compiled for {}; the GPU here is {}, so nothing is timed", request.target, here);
  request.device = "vgpu";
  machine = KW_TRY(BenchMachine::open(request));
  return machine;
}

}  // namespace kw::timing
