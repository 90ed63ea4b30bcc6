// The functions that host code compiled by CuTe DSL calls: CUDA's functions under its own names.
// Its libraries contain no device code here; their kernels were declared before loading.
#include <cstring>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"

using kw::recorder::fail;
using kw::recorder::refuse;
using kw::recorder::state;

extern "C" {
int cudaGetDevice(int* device);
int cudaGetDeviceCount(int* count);
int cudaSetDevice(int device);
int cudaDeviceGetAttribute(int* value, int which, int device);
int cudaDeviceSynchronize();
int cudaLaunchKernelExC(const void* config, const void* function, void** args);
}

KW_RECORDED int _cudaLibraryLoadData(void** library, const void*, void*, void*, unsigned, void*,
                                     void*, unsigned) {
  *library = kw::recorder::new_handle();
  return kw::recorder::kSuccess;
}
KW_RECORDED int _cudaLibraryUnload(void*) { return kw::recorder::kSuccess; }
KW_RECORDED int _cudaLibraryGetKernel(void** kernel, void*, const char* name) {
  const auto alias = state().aliases.find(name);
  const auto found =
      alias == state().aliases.end() ? state().kernels.end() : state().kernels.find(alias->second);
  if (found == state().kernels.end()) return fail(kw::recorder::kInvalidFunction);
  *kernel = kw::recorder::new_handle();
  state().functions[*kernel] = &found->second;
  return kw::recorder::kSuccess;
}
KW_RECORDED int _cuKernelGetAttribute(int* value, int which, void* kernel, int) {
  enum : int { kMostThreads, kStaticShared, kLocal = 3, kRegisters };
  const int64_t most = kw_record_function(kernel, 3);
  switch (which) {
    case kMostThreads:
      *value = most > 0 ? static_cast<int>(most) : 1024;
      break;
    case kStaticShared:
      *value = static_cast<int>(kw_record_function(kernel, 1));
      break;
    case kLocal:
      *value = static_cast<int>(kw_record_function(kernel, 2));
      break;
    case kRegisters:
      *value = static_cast<int>(kw_record_function(kernel, 0));
      break;
    default:
      *value = 0;
  }
  return kw_record_function(kernel, 0) < 0 ? fail(kw::recorder::kInvalidFunction)
                                           : kw::recorder::kSuccess;
}
KW_RECORDED int _cudaKernelSetAttributeForDevice(void*, int, int, int) {
  return kw::recorder::kSuccess;
}
KW_RECORDED int _cudaFuncSetAttribute(void*, int, int) { return kw::recorder::kSuccess; }
KW_RECORDED int _cudaGetDevice(int* device) { return cudaGetDevice(device); }
KW_RECORDED int _cudaGetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
KW_RECORDED int _cudaSetDevice(int device) { return cudaSetDevice(device); }
KW_RECORDED int _cudaDeviceGetAttribute(int* value, int which, int device) {
  return cudaDeviceGetAttribute(value, which, device);
}
KW_RECORDED int _cudaDeviceSynchronize() { return cudaDeviceSynchronize(); }
KW_RECORDED int _cudaLaunchKernelEx(const void* config, const void* kernel, void** args) {
  return cudaLaunchKernelExC(config, kernel, args);
}
KW_RECORDED int _cuTensorMapEncodeTiled() { return refuse("tensor maps (TMA) made by the host"); }
