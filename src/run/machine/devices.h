// Opens the compiler and the device of this machine: a compiler by name or preference, a device by
// kind.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::machine {

/// `name`: "nvrtc", "nvcc", "clang", or "" for the first of these that is found. Results are cached
/// on disk.
Result<std::unique_ptr<ports::Compiler>> open_compiler(const std::string& name);

struct DeviceRequest {
  std::string kind = "auto";     // "gpu", "vgpu", or "auto": a GPU when there is one
  std::string target;            // the target that the virtual GPU imitates; "" = sm_90
  double patience_seconds = 60;  // how long to wait for a GPU that another process uses
  std::function<void(const std::string&)> notice;  // called when we wait for the GPU; may be empty
};
/// Whether this machine has a GPU that a driver can open.
bool has_gpu();
Result<std::unique_ptr<ports::Device>> open_device(const DeviceRequest& request);

Json to_json(const ports::DeviceInfo& info);

}  // namespace kw::machine
