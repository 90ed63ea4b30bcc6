// Queries about the device and its kernels, answered with the numbers of the device that the
// recording is for.
#include <algorithm>
#include <string>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"
#include "host_recording/recorder/world.h"

using kw::recorder::fail;
using kw::recorder::refuse;
using kw::recorder::state;
using kw::recorder::world;

namespace {

enum : int {
  kSms = 16,
  kThreadsPerSm = 39,
  kSharedPerSm = 81,
  kRegistersPerSm = 82,
  kSharedOptIn = 97,
  kBlocksPerSm = 106
};

bool is_device(int number) { return number >= 0 && number < world().devices; }

int64_t resident(const void* function, int block, size_t shared) {
  const int64_t registers = kw_record_function(function, 0);
  if (registers < 0 || block <= 0) return -1;
  const int64_t warps = (block + 31) / 32;
  int64_t blocks = std::min(kw_record_attribute(kBlocksPerSm),
                            kw_record_attribute(kThreadsPerSm) / (warps * 32));
  if (registers > 0) {
    const int64_t per_warp = (registers * 32 + 255) / 256 * 256;
    blocks = std::min(blocks, kw_record_attribute(kRegistersPerSm) / (per_warp * warps));
  }
  constexpr int64_t kReserved = 1024;
  const int64_t used = static_cast<int64_t>(shared) + kw_record_function(function, 1) + kReserved;
  return std::max<int64_t>(0, std::min(blocks, kw_record_attribute(kSharedPerSm) / used));
}

}  // namespace

KW_RECORDED int cudaGetDeviceCount(int* count) {
  *count = world().devices;
  return 0;
}
KW_RECORDED int cudaGetDevice(int* device) {
  *device = world().device;
  return 0;
}
KW_RECORDED int cudaSetDevice(int device) {
  if (!is_device(device)) return fail(kw::recorder::kInvalidDevice);
  world().device = device;
  return 0;
}
KW_RECORDED int cudaDeviceGetAttribute(int* value, int which, int device) {
  if (!is_device(device)) return fail(kw::recorder::kInvalidDevice);
  *value = static_cast<int>(kw_record_attribute(which));
  return 0;
}
KW_RECORDED int cudaDriverGetVersion(int* version) {
  *version = static_cast<int>(kw_record_attribute(-1));
  return 0;
}
KW_RECORDED int cudaRuntimeGetVersion(int* version) {
  *version = static_cast<int>(kw_record_attribute(-1));
  return 0;
}
KW_RECORDED int cudaDeviceSynchronize() { return 0; }
KW_RECORDED int cudaThreadSynchronize() { return 0; }
KW_RECORDED int cudaDeviceReset() { return refuse("a reset of the device"); }
KW_RECORDED int cudaDeviceSetCacheConfig(int) { return 0; }
KW_RECORDED int cudaDeviceSetSharedMemConfig(int) { return 0; }
KW_RECORDED int cudaDeviceSetLimit(int limit, size_t) {
  constexpr int kPersistingL2 = 6;
  return limit == kPersistingL2 ? refuse("lines kept in the L2 across calls") : 0;
}
KW_RECORDED int cudaDeviceGetLimit(size_t* value, int) {
  *value = 0;
  return 0;
}
KW_RECORDED int cudaStreamSetAttribute(void*, int, const void*) {
  return refuse("attributes of a stream (lines kept in the L2)");
}
KW_RECORDED int cudaCtxResetPersistingL2Cache() { return 0; }
KW_RECORDED int cudaGetLastError() {
  const int last = state().last_error;
  state().last_error = 0;
  return last;
}
KW_RECORDED int cudaPeekAtLastError() { return state().last_error; }
KW_RECORDED const char* cudaGetErrorString(int code) {
  return code == 0 ? "no error" : code == 2 ? "out of memory" : "invalid argument";
}
KW_RECORDED const char* cudaGetErrorName(int code) {
  return code == 0 ? "cudaSuccess" : "cudaErrorInvalidValue";
}

KW_RECORDED int cudaFuncSetAttribute(const void* function, int which, int value) {
  if (kw_record_function(function, 0) < 0) return fail(kw::recorder::kInvalidFunction);
  constexpr int kDynamicShared = 8;
  const int64_t room = kw_record_attribute(kSharedOptIn) - kw_record_function(function, 1);
  if (which == kDynamicShared && (value < 0 || value > room))
    return fail(kw::recorder::kInvalidValue);
  return 0;
}
KW_RECORDED int cudaFuncSetCacheConfig(const void*, int) { return 0; }
KW_RECORDED int cudaFuncSetSharedMemConfig(const void*, int) { return 0; }

KW_RECORDED int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                       const void* function,
                                                                       int block, size_t shared,
                                                                       unsigned) {
  const int64_t found = resident(function, block, shared);
  if (found < 0) return fail(kw::recorder::kInvalidFunction);
  *blocks = static_cast<int>(found);
  return 0;
}
KW_RECORDED int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                              int block, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block, shared, 0);
}
KW_RECORDED int cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                          int blocks, int) {
  if (blocks <= 0) return fail(kw::recorder::kInvalidValue);
  const int64_t each = kw_record_attribute(kSharedPerSm) / blocks - 1024;
  const int64_t room = std::min(each, kw_record_attribute(kSharedOptIn));
  *bytes = static_cast<size_t>(std::max<int64_t>(0, room - kw_record_function(function, 1)));
  return 0;
}
