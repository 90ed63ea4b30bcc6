// One GPU in this process. After a fault or a hang CUDA offers no way back: every further call
// fails or waits forever. So the context remembers that it is lost, and from then on no destructor
// calls the driver. The process has to end, which frees everything.
// Waiting polls the stream instead of blocking in the driver, because a blocking wait has no time
// limit. It spins for 2 ms, since most kernels end by then, and afterwards sleeps 0.1 ms at a time.
// The cost: up to 0.1 ms more for long kernels, and one busy core for short ones.
#include "cuda/context.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/text.h"

namespace kw::cuda {
namespace {

std::string uuid_text(const CuUuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

}  // namespace

Deadline deadline_in(double seconds) {
  // A limit of about a century keeps the clock's arithmetic from overflowing.
  const double bounded = seconds > 0 ? std::min(seconds, 3.0e9) : 0;  // NaN: 0
  const auto span = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(bounded));
  return {std::chrono::steady_clock::now() + span, bounded};
}

Result<std::unique_ptr<Context>> Context::create(const Driver& driver, int ordinal) {
  std::unique_ptr<Context> context(new Context(driver));
  KW_TRY(context->open(ordinal));
  context->describe();
  return context;
}

Context::~Context() {
  if (lost_) return;
  if (stream_ != nullptr) api().stream_destroy(stream_);
  if (context_ != nullptr) api().primary_release(device_);
}

Status Context::open(int ordinal) {
  if (ordinal < 0 || ordinal >= driver_.device_count()) {
    return environment_error("GPU {} does not exist; driver {} reports {} GPUs", ordinal,
                             driver_.path(), driver_.device_count());
  }
  auto ok = [&](CuResult code, const char* call) -> Status {
    if (code == kSuccess) return Done{};
    return environment_error("GPU {} cannot be used: {} says {}", ordinal, call,
                             driver_.error_text(code));
  };
  KW_TRY(ok(api().device_get(&device_, ordinal), "cuDeviceGet"));
  CuContext primary = nullptr;
  KW_TRY(ok(api().primary_retain(&primary, device_), "cuDevicePrimaryCtxRetain"));
  context_ = primary;
  KW_TRY(ok(api().context_set(context_), "cuCtxSetCurrent"));
  return ok(api().stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
}

void Context::describe() {
  char name[256] = {};
  if (api().device_name(name, sizeof(name) - 1, device_) == kSuccess) info_.name = name;
  size_t memory = 0;
  if (api().device_memory(&memory, device_) == kSuccess)
    info_.memory_bytes = static_cast<int64_t>(memory);
  CuUuid uuid{};
  if (api().device_uuid(&uuid, device_) == kSuccess) info_.uuid = uuid_text(uuid);
  info_.target = fmt::format("sm_{}{}", attribute(kAttrComputeMajor), attribute(kAttrComputeMinor));
  info_.sms = attribute(kAttrSmCount);
  info_.l2_bytes = attribute(kAttrL2Bytes);
  info_.shared_per_block_optin =
      std::max(attribute(kAttrMaxSharedPerBlockOptin), attribute(kAttrMaxSharedPerBlock));
  info_.sm_clock_mhz = attribute(kAttrClockKhz) / 1000;
  info_.memory_clock_mhz = attribute(kAttrMemoryClockKhz) / 1000;
  info_.driver = "CUDA " + driver_.version_text();
  info_.image = ports::ImageKind::Cubin;
  describe_memory();
  nvml_ = Nvml::open(info_.uuid);
  if (nvml_ == nullptr) return;
  const NvmlReading reading = nvml_->read();
  if (const std::string version = nvml_->driver_version(); !version.empty()) {
    info_.driver = fmt::format("{} (CUDA {})", version, driver_.version_text());
  }
  if (reading.max_sm_clock_mhz > 0) info_.sm_clock_mhz = reading.max_sm_clock_mhz;
  if (reading.max_memory_clock_mhz > 0) info_.memory_clock_mhz = reading.max_memory_clock_mhz;
  describe_memory();
}

void Context::describe_memory() {
  // Two transfers per clock, eight bits per byte.
  info_.dram_gbps = 2e-3 * info_.memory_clock_mhz * attribute(kAttrMemoryBusBits) / 8;
}

int Context::attribute(int id) const {
  int value = 0;
  return api().device_attribute(&value, id, device_) == kSuccess ? value : 0;
}

uint64_t Context::free_bytes() const {
  size_t free_bytes = 0;
  size_t total = 0;
  return api().memory_info(&free_bytes, &total) == kSuccess ? free_bytes : 0;
}

MaybeFault Context::check(CuResult code, const std::string& doing) const {
  if (code == kSuccess) return Done{};
  Fault fault = make_fault(driver_, code, doing);
  if (fault.context_lost) lost_ = true;
  return fault;
}

MaybeFault Context::wait(const Deadline& deadline, const std::string& doing) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point started = Clock::now();
  CuResult code = kNotReady;
  while ((code = api().stream_query(stream_)) == kNotReady) {
    if (deadline.passed()) {
      lost_ = true;
      Fault hung;
      hung.status = ports::RunStatus::Hung;
      hung.context_lost = true;
      hung.message =
          fmt::format("{}: not finished within the time limit of {} s", doing, deadline.seconds);
      return hung;
    }
    // Most kernels end within the spinning time; a long one must not keep a core busy.
    if (Clock::now() - started > std::chrono::milliseconds(2)) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  KW_TRY(check(code, doing));
  // Only a real synchronisation makes the driver print the kernels' printf output.
  return check(api().stream_synchronize(stream_), doing);
}

MaybeFault Context::upload(CuDevicePtr to, const void* from, uint64_t bytes,
                           const std::string& doing) const {
  KW_TRY(check(api().copy_to_device(to, from, bytes, stream_), doing));
  return check(api().stream_synchronize(stream_), doing);
}

MaybeFault Context::download(void* to, CuDevicePtr from, uint64_t bytes,
                             const std::string& doing) const {
  KW_TRY(check(api().copy_to_host(to, from, bytes, stream_), doing));
  return check(api().stream_synchronize(stream_), doing);
}

PinnedRange::PinnedRange(const Context& context, void* address, uint64_t bytes)
    : context_(context) {
  const Api& api = context.api();
  if (api.host_register == nullptr || api.host_unregister == nullptr) return;
  if (api.host_register(address, bytes, 0) == kSuccess) address_ = address;
}

PinnedRange::~PinnedRange() {
  if (address_ != nullptr && !context_.lost()) context_.api().host_unregister(address_);
}

FaultOr<DeviceMemory> DeviceMemory::allocate(const Context& context, uint64_t bytes,
                                             const std::string& what) {
  DeviceMemory memory;
  std::string doing = fmt::format("allocating {} for {} ({} free)", human_bytes(bytes), what,
                                  human_bytes(context.free_bytes()));
  CuDevicePtr address = 0;
  KW_TRY(context.check(context.api().memory_alloc(&address, bytes), doing));
  memory.context_ = &context;
  memory.address_ = address;
  memory.size_ = bytes;
  return memory;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      size_(std::exchange(other.size_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (context_ != nullptr && !context_->lost()) context_->api().memory_free(address_);
}

}  // namespace kw::cuda
