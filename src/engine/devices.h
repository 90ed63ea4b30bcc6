// Opens what the ports stand for on this machine: a compiler by name or preference, a device by
// kind.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "exec/compiler.h"
#include "exec/device.h"

namespace kw::engine {

/// "nvrtc", "nvcc", "clang", or "" for the first of these that is found. Cached on disk.
Result<std::unique_ptr<exec::Compiler>> open_compiler(const std::string& name);

/// "gpu", "vgpu", or "auto": a GPU when there is one. `target` ("" = sm_90) is what the virtual GPU
/// pretends to be.
Result<std::unique_ptr<exec::Device>> open_device(
    const std::string& kind, const std::string& target,
    const std::function<void(const std::string&)>& notice = {});

Json to_json(const exec::DeviceInfo& info);

}  // namespace kw::engine
