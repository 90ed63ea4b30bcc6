#include "machine/devices.h"

#include <fmt/core.h>

#include "compile/select.h"
#include "cuda/driver.h"
#include "gpu/gpu_device.h"
#include "vgpu/virtual_gpu.h"

namespace kw::machine {

Result<std::unique_ptr<ports::Compiler>> open_compiler(const std::string& name) {
  compile::SelectOptions options;
  options.name = name;
  return compile::select_compiler(options);
}

Result<std::unique_ptr<ports::Device>> open_device(const DeviceRequest& request) {
  const std::string& kind = request.kind;
  if (kind != "auto" && kind != "gpu" && kind != "vgpu") {
    return input_error(fmt::format("--device: '{}' is not one of auto, gpu, vgpu", kind));
  }
  if (kind == "gpu" || (kind == "auto" && cuda::Driver::open())) {
    gpu::GpuOptions options;
    options.lock_timeout_seconds = request.patience_seconds;
    options.notice = request.notice;
    return std::unique_ptr<ports::Device>(KW_TRY(gpu::GpuDevice::open(0, options)));
  }
  return std::unique_ptr<ports::Device>(KW_TRY(vgpu::VirtualGpu::open(request.target)));
}

Json to_json(const ports::DeviceInfo& info) {
  Json json = Json::object();
  json.set("name", info.name)
      .set("target", info.target)
      .set("virtual", info.is_virtual)
      .set("sms", info.sms);
  json.set("l2_bytes", info.l2_bytes).set("shared_per_block_optin", info.shared_per_block_optin);
  json.set("memory_bytes", info.memory_bytes).set("sm_clock_mhz", info.sm_clock_mhz);
  json.set("memory_clock_mhz", info.memory_clock_mhz)
      .set("uuid", info.uuid)
      .set("driver", info.driver);
  return json;
}

}  // namespace kw::machine
