#include "cuda/nvml.h"

#include "os/files.h"
#include "os/library.h"

namespace kw::cuda {
namespace {

using Handle = struct NvmlDevice*;
constexpr int kOk = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kSensorGpu = 0;

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char* text, unsigned length) = nullptr;
  int (*by_uuid)(const char* uuid, Handle* device) = nullptr;
  int (*clock)(Handle device, unsigned type, unsigned* mhz) = nullptr;
  int (*max_clock)(Handle device, unsigned type, unsigned* mhz) = nullptr;
  int (*temperature)(Handle device, unsigned sensor, unsigned* degrees) = nullptr;
};

bool bind(const os::Library& library, Functions& f) {
  return library.bind(f.init, "nvmlInit_v2") && library.bind(f.shutdown, "nvmlShutdown") &&
         library.bind(f.driver_version, "nvmlSystemGetDriverVersion") &&
         library.bind(f.by_uuid, "nvmlDeviceGetHandleByUUID") &&
         library.bind(f.clock, "nvmlDeviceGetClockInfo") &&
         library.bind(f.max_clock, "nvmlDeviceGetMaxClockInfo") &&
         library.bind(f.temperature, "nvmlDeviceGetTemperature");
}

int ask(int (*function)(Handle, unsigned, unsigned*), Handle device, unsigned what) {
  unsigned value = 0;
  return function(device, what, &value) == kOk ? static_cast<int>(value) : 0;
}

}  // namespace

struct Nvml::Impl {
  os::Library library;
  Functions functions;
  Handle device = nullptr;
};

Nvml::Nvml(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Nvml::~Nvml() { impl_->functions.shutdown(); }

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid) {
  // A driver chosen by name has no matching management library we could know of.
  if (!os::env("KERNELWRIGHT_LIBCUDA").empty()) return nullptr;
  auto library = os::Library::open("libnvidia-ml.so.1");
  Functions functions;
  if (!library || !bind(*library, functions) || functions.init() != kOk) return nullptr;
  Handle device = nullptr;
  if (functions.by_uuid(uuid.c_str(), &device) != kOk) {
    functions.shutdown();
    return nullptr;
  }
  return std::unique_ptr<Nvml>(
      new Nvml(std::make_unique<Impl>(Impl{std::move(library).value(), functions, device})));
}

std::string Nvml::driver_version() const {
  char version[96] = {};
  return impl_->functions.driver_version(version, sizeof(version) - 1) == kOk ? version : "";
}

NvmlReading Nvml::read() const {
  const Functions& f = impl_->functions;
  NvmlReading reading;
  reading.sm_clock_mhz = ask(f.clock, impl_->device, kClockSm);
  reading.memory_clock_mhz = ask(f.clock, impl_->device, kClockMemory);
  reading.max_sm_clock_mhz = ask(f.max_clock, impl_->device, kClockSm);
  reading.max_memory_clock_mhz = ask(f.max_clock, impl_->device, kClockMemory);
  reading.temperature_c = ask(f.temperature, impl_->device, kSensorGpu);
  return reading;
}

}  // namespace kw::cuda
