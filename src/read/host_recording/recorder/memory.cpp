// Memory of an imitated device: addresses that the host cannot access, never given twice.
#include <cstdlib>
#include <string>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"
#include "host_recording/recorder/world.h"

using kw::recorder::as_number;
using kw::recorder::fail;
using kw::recorder::refuse;
using kw::recorder::state;
using kw::recorder::write_line;

namespace kw::recorder {
namespace {

constexpr uint64_t kAlign = 512, kGap = uint64_t{1} << 20;

uint64_t take(uint64_t bytes) {
  State& s = state();
  const uint64_t address = s.next;
  // No two processes, and no two calls, have memory at the same distances.
  const uint64_t more = of_world(s.next, kGap / kAlign) * kAlign;
  s.next += (bytes + kAlign - 1) / kAlign * kAlign + kGap + more;
  s.device[address] = {bytes};
  return address;
}

int allocate(void** to, uint64_t bytes) {
  if (to == nullptr) return fail(kInvalidValue);
  *to = nullptr;
  if (bytes == 0) return kSuccess;
  State& s = state();
  if (bytes > s.memory_bytes || s.used > s.memory_bytes - bytes) return fail(kNoMemory);
  s.used += bytes;
  const uint64_t address = take(bytes);
  write_line("alloc " + std::to_string(address) + " " + std::to_string(bytes));
  *to = reinterpret_cast<void*>(address);
  return kSuccess;
}

int release(void* pointer) {
  if (pointer == nullptr) return kSuccess;
  State& s = state();
  const auto at = s.device.find(as_number(pointer));
  if (at == s.device.end()) return fail(kInvalidValue);
  s.used -= at->second.bytes < s.used ? at->second.bytes : s.used;
  s.device.erase(at);
  write_line("free " + std::to_string(as_number(pointer)));
  return kSuccess;
}

int allocate_host(void** to, size_t bytes) {
  if (to == nullptr) return fail(kInvalidValue);
  *to = std::malloc(bytes > 0 ? bytes : 1);
  if (*to == nullptr) return fail(kNoMemory);
  state().host[as_number(*to)] = {bytes};
  write_line("host " + std::to_string(as_number(*to)) + " " + std::to_string(bytes));
  return kSuccess;
}

}  // namespace
}  // namespace kw::recorder

KW_RECORDED uint64_t kw_record_tensor(int index, uint64_t bytes) {
  const uint64_t address = kw::recorder::take(bytes > 0 ? bytes : 1);
  write_line("tensor " + std::to_string(index) + " " + std::to_string(address) + " " +
             std::to_string(bytes));
  return address;
}

KW_RECORDED void kw_record_take_back(uint64_t bytes) {
  state().used -= bytes < state().used ? bytes : state().used;
}

KW_RECORDED void kw_record_result(int index, const void* data, unsigned long bytes) {
  constexpr int kFirstOutput = -3;
  write_line("result " + std::to_string(kw_record_attribute(kFirstOutput) + index) + " " +
             std::to_string(as_number(data)) + " " + std::to_string(bytes));
}

KW_RECORDED int cudaMalloc(void** to, size_t bytes) { return kw::recorder::allocate(to, bytes); }
KW_RECORDED int cudaMallocAsync(void** to, size_t bytes, void*) {
  return kw::recorder::allocate(to, bytes);
}
KW_RECORDED int cudaMallocAsync_ptsz(void** to, size_t bytes, void*) {
  return kw::recorder::allocate(to, bytes);
}
KW_RECORDED int cudaMallocFromPoolAsync(void** to, size_t bytes, void*, void*) {
  return kw::recorder::allocate(to, bytes);
}
KW_RECORDED int cudaMallocPitch(void** to, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return fail(kw::recorder::kInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return kw::recorder::allocate(to, *pitch * height);
}
KW_RECORDED int cudaFree(void* pointer) { return kw::recorder::release(pointer); }
KW_RECORDED int cudaFreeAsync(void* pointer, void*) { return kw::recorder::release(pointer); }
KW_RECORDED int cudaFreeAsync_ptsz(void* pointer, void*) { return kw::recorder::release(pointer); }

KW_RECORDED int cudaMallocHost(void** to, size_t bytes) {
  return kw::recorder::allocate_host(to, bytes);
}
KW_RECORDED int cudaHostAlloc(void** to, size_t bytes, unsigned) {
  return kw::recorder::allocate_host(to, bytes);
}
KW_RECORDED int cudaFreeHost(void* pointer) {
  if (state().host.erase(as_number(pointer)) == 0) return fail(kw::recorder::kInvalidValue);
  std::free(pointer);
  return 0;
}
KW_RECORDED int cudaHostRegister(void*, size_t, unsigned) {
  return refuse("host memory that kernels can reach (cudaHostRegister)");
}
KW_RECORDED int cudaHostGetDevicePointer(void**, void*, unsigned) {
  return refuse("host memory that kernels can reach (cudaHostGetDevicePointer)");
}
KW_RECORDED int cudaMallocManaged(void**, size_t, unsigned) { return refuse("managed memory"); }
KW_RECORDED int cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *free_bytes = state().memory_bytes - state().used;
  *total = state().memory_bytes;
  return 0;
}
KW_RECORDED int cudaDeviceGetDefaultMemPool(void** pool, int) {
  *pool = reinterpret_cast<void*>(uint64_t{0x10});
  return 0;
}
KW_RECORDED int cudaDeviceGetMemPool(void** pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
KW_RECORDED int cudaMemPoolSetAttribute(void*, int, void*) { return 0; }
KW_RECORDED int cudaMemPoolTrimTo(void*, size_t) { return 0; }
KW_RECORDED int cudaIpcGetMemHandle(void*, void*) { return refuse("memory of other processes"); }
KW_RECORDED int cudaIpcOpenMemHandle(void**, void*, unsigned) {
  return refuse("memory of other processes");
}
KW_RECORDED int cudaDeviceEnablePeerAccess(int, unsigned) { return refuse("peer access"); }
KW_RECORDED int cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return 0;
}
