#include "cuda/nvml.h"

#include "os/files.h"
#include "os/library.h"

namespace kw::cuda {
namespace {

using Handle = struct NvmlDevice*;
constexpr int kNvmlOk = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kSensorGpu = 0;

struct NvmlFunctions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char* text, unsigned length) = nullptr;
  int (*by_uuid)(const char* uuid, Handle* device) = nullptr;
  int (*clock)(Handle device, unsigned type, unsigned* mhz) = nullptr;
  int (*max_clock)(Handle device, unsigned type, unsigned* mhz) = nullptr;
  int (*temperature)(Handle device, unsigned sensor, unsigned* degrees) = nullptr;
  // Optional: some versions of the library lack these.
  int (*default_clock)(Handle device, unsigned type, unsigned* mhz) = nullptr;
  int (*power)(Handle device, unsigned* milliwatts) = nullptr;
};

bool bind_nvml(const os::Library& library, NvmlFunctions& f) {
  library.bind(f.default_clock, "nvmlDeviceGetDefaultApplicationsClock");
  library.bind(f.power, "nvmlDeviceGetPowerUsage");
  return library.bind(f.init, "nvmlInit_v2") && library.bind(f.shutdown, "nvmlShutdown") &&
         library.bind(f.driver_version, "nvmlSystemGetDriverVersion") &&
         library.bind(f.by_uuid, "nvmlDeviceGetHandleByUUID") &&
         library.bind(f.clock, "nvmlDeviceGetClockInfo") &&
         library.bind(f.max_clock, "nvmlDeviceGetMaxClockInfo") &&
         library.bind(f.temperature, "nvmlDeviceGetTemperature");
}

int ask(int (*function)(Handle, unsigned, unsigned*), Handle device, unsigned what) {
  unsigned value = 0;
  return function(device, what, &value) == kNvmlOk ? static_cast<int>(value) : 0;
}

}  // namespace

struct Nvml::Impl {
  os::Library library;
  NvmlFunctions functions;
  Handle device = nullptr;
};

Nvml::Nvml(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Nvml::~Nvml() { impl_->functions.shutdown(); }

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid) {
  // For a driver chosen by name the matching management library is unknown, unless the driver
  // contains it.
  const std::string chosen = os::env("KERNELWRIGHT_LIBCUDA");
  auto library = os::Library::open(chosen.empty() ? "libnvidia-ml.so.1" : chosen);
  NvmlFunctions functions;
  if (!library || !bind_nvml(*library, functions) || functions.init() != kNvmlOk) return nullptr;
  Handle device = nullptr;
  if (functions.by_uuid(uuid.c_str(), &device) != kNvmlOk) {
    functions.shutdown();
    return nullptr;
  }
  return std::unique_ptr<Nvml>(
      new Nvml(std::make_unique<Impl>(Impl{std::move(library).value(), functions, device})));
}

std::string Nvml::driver_version() const {
  char version[96] = {};
  return impl_->functions.driver_version(version, sizeof(version) - 1) == kNvmlOk ? version : "";
}

NvmlReading Nvml::read() const {
  const NvmlFunctions& f = impl_->functions;
  NvmlReading reading;
  reading.sm_clock_mhz = ask(f.clock, impl_->device, kClockSm);
  reading.memory_clock_mhz = ask(f.clock, impl_->device, kClockMemory);
  reading.max_sm_clock_mhz = ask(f.max_clock, impl_->device, kClockSm);
  reading.max_memory_clock_mhz = ask(f.max_clock, impl_->device, kClockMemory);
  reading.temperature_c = ask(f.temperature, impl_->device, kSensorGpu);
  if (f.default_clock != nullptr)
    reading.default_sm_clock_mhz = ask(f.default_clock, impl_->device, kClockSm);
  if (reading.default_sm_clock_mhz == 0) reading.default_sm_clock_mhz = reading.max_sm_clock_mhz;
  unsigned milliwatts = 0;
  if (f.power != nullptr && f.power(impl_->device, &milliwatts) == kNvmlOk)
    reading.power_w = static_cast<int>(milliwatts / 1000);
  return reading;
}

int Nvml::sm_clock_mhz() const { return ask(impl_->functions.clock, impl_->device, kClockSm); }

}  // namespace kw::cuda
