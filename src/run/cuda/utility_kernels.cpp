#include "cuda/utility_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "kUtilityKernels.inc"

namespace kw::cuda {
namespace {

constexpr uint32_t kCanaryWords = 65536;
constexpr uint32_t kCanaryKey = 0x5eed1e55;
constexpr uint64_t kGateNanoseconds = 50'000'000;

}  // namespace

Result<std::unique_ptr<UtilityKernels>> UtilityKernels::load(const Context& context) {
  std::unique_ptr<UtilityKernels> kernels(new UtilityKernels(context));
  auto image = LoadedImage::load(context, ports::ImageKind::Ptx, kUtilityKernels);
  if (!image)
    return environment_error("the driver refuses kernelwright's own kernels: " +
                             image.error().message);
  kernels->image_ = std::move(image).value();
  kernels->jobs_ = KW_TRY(JobKernels::load(context));
  void* host = nullptr;
  CuResult code = context.api().host_alloc(&host, 64, kHostAllocDeviceMap);
  if (code == kSuccess) {
    kernels->gate_ = static_cast<volatile uint32_t*>(host);
    kernels->gate_[0] = 0;
    kernels->gate_[1] = 0;
    code = context.api().host_device_pointer(&kernels->gate_on_device_, host, 0);
  }
  if (code != kSuccess) {
    return environment_error("pinned host memory cannot be allocated: " +
                             context.driver().error_text(code));
  }
  return kernels;
}

UtilityKernels::~UtilityKernels() {
  if (gate_ != nullptr && !context_.lost()) context_.api().host_free(const_cast<uint32_t*>(gate_));
}

MaybeFault UtilityKernels::launch(const char* entry, unsigned blocks, unsigned threads,
                                  void** params) {
  LoadedFunction* function = KW_TRY(image_->function(entry));
  CuLaunchConfig config{blocks, 1, 1, threads, 1, 1, 0, context_.stream(), nullptr, 0};
  const CuResult code = context_.api().launch(&config, function->handle, params, nullptr);
  if (code == kSuccess) return Done{};
  return context_.check(code, std::string("launching ") + entry);
}

MaybeFault UtilityKernels::canary(const Deadline& deadline) {
  DeviceMemory memory = KW_TRY(DeviceMemory::allocate(context_, kCanaryWords * 4, "the canary"));
  CuDevicePtr out = memory.address();
  uint32_t count = kCanaryWords;
  uint32_t key = kCanaryKey + ++ticket_;  // an old result of an earlier canary must not pass
  void* params[] = {&out, &count, &key};
  KW_TRY(launch("kw_canary", kCanaryWords / 256, 256, params));
  KW_TRY(context_.wait(deadline, "running the canary kernel"));
  std::vector<uint32_t> words(kCanaryWords);
  KW_TRY(context_.download(words.data(), out, kCanaryWords * 4, "reading the canary's result"));
  for (uint32_t i = 0; i < kCanaryWords; ++i) {
    const uint32_t expected = (i * 2654435761u) ^ key;
    if (words[i] == expected) continue;
    Fault fault;
    fault.status = ports::RunStatus::Faulted;
    fault.context_lost = fault.device_lost = true;
    fault.message = fmt::format("the canary kernel computed {:#x} instead of {:#x} at word {}",
                                words[i], expected, i);
    return fault;
  }
  return Done{};
}

MaybeFault UtilityKernels::enqueue_sweep() {
  if (sweep_.size() == 0) {
    const auto l2 = static_cast<uint64_t>(context_.info().l2_bytes);
    sweep_ = KW_TRY(DeviceMemory::allocate(context_, std::max<uint64_t>(2 * l2, 1 << 20) / 16 * 16,
                                           "the L2 sweep"));
    sink_ = KW_TRY(DeviceMemory::allocate(context_, 256, "the L2 sweep"));
    // Lines that an earlier kernel marked as persisting would survive a sweep. Devices without that
    // feature return an error, which is ignored.
    context_.api().context_set_limit(kLimitPersistingL2, 0);
  }
  context_.api().reset_persisting_l2();
  CuDevicePtr base = sweep_.address();
  CuDevicePtr sink = sink_.address();
  uint64_t count = sweep_.size() / 16;
  uint32_t value = ++ticket_ & 0x7fffffff;
  const auto blocks = static_cast<unsigned>(std::max(1, context_.info().sms) * 4);
  void* write_params[] = {&base, &count, &value};
  KW_TRY(launch("kw_sweep_write", blocks, 256, write_params));
  void* read_params[] = {&base, &count, &sink};
  return launch("kw_sweep_read", blocks, 256, read_params);
}

MaybeFault UtilityKernels::enqueue_gate() {
  ++ticket_;
  uint64_t limit = kGateNanoseconds;
  void* params[] = {&gate_on_device_, &ticket_, &limit};
  return launch("kw_gate", 1, 1, params);
}

void UtilityKernels::open_gate() { gate_[0] = ticket_; }

bool UtilityKernels::gate_gave_up() const { return gate_[1] == ticket_; }

}  // namespace kw::cuda
