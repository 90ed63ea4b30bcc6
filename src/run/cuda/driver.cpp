#include "cuda/driver.h"

#include <fmt/core.h>

#include <vector>

#include "core/text.h"
#include "os/files.h"

namespace kw::cuda {
namespace {

std::vector<std::string> driver_candidates() {
  if (std::string chosen = os::env("KERNELWRIGHT_LIBCUDA"); !chosen.empty()) return {chosen};
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
          "/usr/lib64/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"};
}

}  // namespace

Result<std::unique_ptr<Driver>> Driver::open() {
  std::vector<std::string> tried;
  for (const std::string& path : driver_candidates()) {
    auto library = os::Library::open(path);
    if (!library) {
      // For a missing file the path is enough; for a broken one the loader's message is needed.
      const bool absent = library.error().message.find("No such file") != std::string::npos;
      tried.push_back(absent ? path : library.error().message);
      continue;
    }
    std::unique_ptr<Driver> driver(new Driver(std::move(library).value()));
    KW_TRY(driver->bind());
    KW_TRY(driver->initialise());
    return driver;
  }
  return environment_error("no CUDA driver (libcuda.so.1 comes with NVIDIA's driver); tried " +
                           join(tried, ", "));
}

Status Driver::bind() {
  std::vector<std::string> missing;
#define KW_CUDA_BIND(member, symbol, parameters) \
  if (!library_.bind(api_.member, symbol)) missing.push_back(symbol);
  KW_CUDA_REQUIRED(KW_CUDA_BIND)
#undef KW_CUDA_BIND
  if (!library_.bind(api_.event_elapsed, "cuEventElapsedTime_v2") &&
      !library_.bind(api_.event_elapsed, "cuEventElapsedTime")) {
    missing.push_back("cuEventElapsedTime");
  }
  if (!missing.empty()) {
    return environment_error("the CUDA driver {} is too old (11.8 or newer is needed): it lacks {}",
                             path(), join(missing, ", "));
  }
#define KW_CUDA_BIND(member, symbol, parameters) library_.bind(api_.member, symbol);
  KW_CUDA_OPTIONAL(KW_CUDA_BIND)
#undef KW_CUDA_BIND
  return Done{};
}

Status Driver::initialise() {
  if (CuResult code = api_.init(0); code != kSuccess) {
    return environment_error("the CUDA driver {} does not start: cuInit says {}", path(),
                             error_text(code));
  }
  if (CuResult code = api_.driver_version(&version_); code != kSuccess)
    return environment_error("{} does not report its version: {}", path(), error_text(code));
  CuResult code = api_.device_count(&devices_);
  if (code != kSuccess || devices_ < 1) {
    return environment_error("the CUDA driver {} ({}) found no GPU: {}", path(), version_text(),
                             error_text(code == kSuccess ? kNoDevice : code));
  }
  return Done{};
}

std::string Driver::version_text() const {
  return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
}

std::string Driver::error_name(CuResult code) const {
  const char* text = nullptr;
  if (api_.error_name(code, &text) == kSuccess && text != nullptr) return text;
  return fmt::format("CUDA error {}", code);
}

std::string Driver::error_text(CuResult code) const {
  const char* text = nullptr;
  if (api_.error_string(code, &text) == kSuccess && text != nullptr) {
    return fmt::format("{} ({})", error_name(code), text);
  }
  return error_name(code);
}

}  // namespace kw::cuda
