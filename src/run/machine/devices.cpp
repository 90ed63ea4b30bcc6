#include "machine/devices.h"

#include "compile/select.h"
#include "core/json_writer.h"
#include "cuda/driver.h"
#include "gpu/gpu_device.h"
#include "vgpu/virtual_gpu.h"

namespace kw::machine {

Result<std::unique_ptr<ports::Compiler>> open_compiler(const std::string& name) {
  compile::SelectOptions options;
  options.name = name;
  return compile::select_compiler(options);
}

bool has_gpu() { return cuda::Driver::open().has_value(); }

Result<std::unique_ptr<ports::Device>> open_device(const DeviceRequest& request) {
  const std::string& kind = request.kind;
  if (kind != "auto" && kind != "gpu" && kind != "vgpu")
    return input_error("--device: '{}' is not one of auto, gpu, vgpu", kind);
  if (kind == "gpu" || (kind == "auto" && cuda::Driver::open())) {
    gpu::GpuOptions options;
    options.lock_timeout_seconds = request.patience_seconds;
    options.notice = request.notice;
    return std::unique_ptr<ports::Device>(KW_TRY(gpu::GpuDevice::open(0, options)));
  }
  return std::unique_ptr<ports::Device>(KW_TRY(vgpu::VirtualGpu::open(request.target)));
}

Json to_json(const ports::DeviceInfo& i) {
  JsonWriter v;
  v("name", i.name)("target", i.target)("virtual", i.is_virtual)("sms", i.sms);
  v("l2_bytes", i.l2_bytes)("shared_per_block_optin", i.shared_per_block_optin);
  v("memory_bytes", i.memory_bytes)("sm_clock_mhz", i.sm_clock_mhz);
  v("memory_clock_mhz", i.memory_clock_mhz)("uuid", i.uuid)("driver", i.driver);
  return v.take();
}

}  // namespace kw::machine
