#include "cuda/utility_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace kw::cuda {
namespace {

constexpr uint32_t kCanaryWords = 65536;
constexpr uint32_t kCanaryKey = 0x5eed1e55;
constexpr uint64_t kGateNanoseconds = 50'000'000;

// The lowest target CUDA 13 still knows; the driver compiles it for whatever device there is.
constexpr const char* kPtx = R"(
.version 6.4
.target sm_75
.address_size 64

// out[i] = (i * 2654435761) ^ key
.visible .entry kw_canary(.param .u64 out, .param .u32 count, .param .u32 key)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [count];
  ld.param.u32 %r2, [key];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p, %r6, %r1;
  @%p bra done;
  mul.lo.u32 %r7, %r6, 2654435761;
  xor.b32 %r7, %r7, %r2;
  mul.wide.u32 %rd2, %r6, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
done:
  ret;
}

// Writes `count` 16-byte words.
.visible .entry kw_sweep_write(.param .u64 base, .param .u64 count, .param .u32 value)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [base];
  ld.param.u64 %rd2, [count];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r6, %r3, %r5;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  cvt.u64.u32 %rd3, %r2;
  cvt.u64.u32 %rd4, %r6;
loop:
  setp.ge.u64 %p, %rd3, %rd2;
  @%p bra done;
  shl.b64 %rd5, %rd3, 4;
  add.u64 %rd5, %rd1, %rd5;
  st.global.v4.u32 [%rd5], {%r1, %r1, %r1, %r1};
  add.u64 %rd3, %rd3, %rd4;
  bra loop;
done:
  ret;
}

// Reads `count` 16-byte words; the store keeps the loads alive and never happens for what kw_sweep_write writes.
.visible .entry kw_sweep_read(.param .u64 base, .param .u64 count, .param .u64 sink)
{
  .reg .pred %p;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [base];
  ld.param.u64 %rd2, [count];
  ld.param.u64 %rd6, [sink];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd6, %rd6;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r6, %r3, %r5;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  cvt.u64.u32 %rd3, %r2;
  cvt.u64.u32 %rd4, %r6;
  mov.u32 %r1, 0;
loop:
  setp.ge.u64 %p, %rd3, %rd2;
  @%p bra test;
  shl.b64 %rd5, %rd3, 4;
  add.u64 %rd5, %rd1, %rd5;
  ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd5];
  or.b32 %r7, %r7, %r8;
  or.b32 %r9, %r9, %r10;
  or.b32 %r7, %r7, %r9;
  or.b32 %r1, %r1, %r7;
  add.u64 %rd3, %rd3, %rd4;
  bra loop;
test:
  setp.ne.u32 %p, %r1, 0xffffffff;
  @%p bra done;
  st.global.u32 [%rd6], %r1;
done:
  ret;
}

// Waits until gate[0] holds the ticket; after `limit` nanoseconds writes the ticket to gate[1] and goes on.
.visible .entry kw_gate(.param .u64 gate, .param .u32 ticket, .param .u64 limit)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [gate];
  ld.param.u32 %r1, [ticket];
  ld.param.u64 %rd2, [limit];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u64 %rd3, %globaltimer;
loop:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.eq.u32 %p, %r2, %r1;
  @%p bra done;
  mov.u64 %rd4, %globaltimer;
  sub.u64 %rd5, %rd4, %rd3;
  setp.lt.u64 %p, %rd5, %rd2;
  @%p bra loop;
  st.volatile.global.u32 [%rd1+4], %r1;
  membar.sys;
done:
  ret;
}
)";

}  // namespace

Result<std::unique_ptr<UtilityKernels>> UtilityKernels::load(const Context& context) {
  std::unique_ptr<UtilityKernels> kernels(new UtilityKernels(context));
  auto image = LoadedImage::load(context, ports::ImageKind::Ptx, kPtx);
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
    return environment_error("pinned host memory cannot be had: " +
                             context.driver().error_text(code));
  }
  return kernels;
}

UtilityKernels::~UtilityKernels() {
  if (gate_ != nullptr && !context_.lost()) context_.api().host_free(const_cast<uint32_t*>(gate_));
}

Went UtilityKernels::launch(const char* entry, unsigned blocks, unsigned threads, void** params) {
  Function* function = KW_TRY(image_->function(entry));
  CuLaunchConfig config{blocks, 1, 1, threads, 1, 1, 0, context_.stream(), nullptr, 0};
  const CuResult code = context_.api().launch(&config, function->handle, params, nullptr);
  if (code == kSuccess) return Done{};
  return context_.check(code, std::string("launching ") + entry);
}

Went UtilityKernels::canary(const Deadline& deadline) {
  DeviceMemory memory = KW_TRY(DeviceMemory::allocate(context_, kCanaryWords * 4, "the canary"));
  CuDevicePtr out = memory.address();
  uint32_t count = kCanaryWords;
  uint32_t key = kCanaryKey + ++ticket_;  // a stale result of an earlier canary must not pass
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

Went UtilityKernels::enqueue_sweep() {
  if (sweep_.size() == 0) {
    const auto l2 = static_cast<uint64_t>(context_.info().l2_bytes);
    sweep_ = KW_TRY(DeviceMemory::allocate(context_, std::max<uint64_t>(2 * l2, 1 << 20) / 16 * 16,
                                           "the L2 sweep"));
    sink_ = KW_TRY(DeviceMemory::allocate(context_, 256, "the L2 sweep"));
    // Lines an earlier kernel asked to persist would survive a sweep. Devices without that feature
    // refuse, rightly.
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

Went UtilityKernels::enqueue_gate() {
  ++ticket_;
  uint64_t limit = kGateNanoseconds;
  void* params[] = {&gate_on_device_, &ticket_, &limit};
  return launch("kw_gate", 1, 1, params);
}

void UtilityKernels::open_gate() { gate_[0] = ticket_; }

bool UtilityKernels::gate_gave_up() const { return gate_[1] == ticket_; }

}  // namespace kw::cuda
