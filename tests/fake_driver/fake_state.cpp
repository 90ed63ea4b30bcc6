#include "fake_state.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace kw::fake {

bool Device::owns(CuDevicePtr address, size_t bytes) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return address - start < size && bytes <= size - (address - start);
}

CuResult Device::drain(Stream& stream) {
  while (sticky == 0 && !stream.queue.empty()) {
    const CuResult code = stream.queue.front()();
    if (code == cuda::kNotReady) return code;
    stream.queue.pop_front();
    if (code != cuda::kSuccess) sticky = code;
  }
  return sticky;
}

CuResult Device::drain_all() {
  for (;;) {
    bool busy = false;
    {
      const std::lock_guard guard(mutex);
      for (Stream* stream : streams) busy = drain(*stream) == cuda::kNotReady || busy;
      if (!busy) return sticky;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Device& device() {
  static Device the_device;
  return the_device;
}

Stamps& stamps() {
  static Stamps the_stamps;
  return the_stamps;
}

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

bool asked_for(const char* fault) {
  const char* faults = std::getenv("KW_FAKE_CUDA");
  return faults != nullptr && std::strstr(faults, fault) != nullptr;
}

unsigned sm_clock_mhz() {
  static size_t readings = 0;
  const char* file = std::getenv("KW_FAKE_CLOCK");
  if (file == nullptr) return 1980;
  std::ifstream lines(file);
  unsigned mhz = 1980;
  for (size_t i = 0; i <= readings && lines >> mhz; ++i) {
  }
  ++readings;
  return mhz;
}

bool is_sick() {
  const char* file = std::getenv("KW_FAKE_SICK");
  return file != nullptr && ::access(file, F_OK) == 0;
}

}  // namespace kw::fake
