// The part of the CUDA driver's C interface that kernelwright calls: handles, constants and entry
// points. They are declared here so that no CUDA header is needed to build. Symbol names carry the
// version whose signature is given. Only for src/run/cuda and the fake driver in tests.
#pragma once

#include <cstddef>

namespace kw::cuda {

using CuResult = int;
using CuDevice = int;
using CuDevicePtr = unsigned long long;
using CuContext = struct CuContextHandle*;
using CuModule = struct CuModuleHandle*;
using CuFunction = struct CuFunctionHandle*;
using CuStream = struct CuStreamHandle*;
using CuEvent = struct CuEventHandle*;
using CuGraph = struct CuGraphHandle*;
using CuGraphExec = struct CuGraphExecHandle*;
using CuGraphNode = struct CuGraphNodeHandle*;

struct CuUuid {
  unsigned char bytes[16];
};

// Results that are handled one by one; for all others the driver's name is used.
inline constexpr CuResult kSuccess = 0;
inline constexpr CuResult kInvalidValue = 1;
inline constexpr CuResult kOutOfMemory = 2;
inline constexpr CuResult kNoDevice = 100;
inline constexpr CuResult kNotReady = 600;

// CUdevice_attribute.
inline constexpr int kAttrMaxSharedPerBlock = 8;
inline constexpr int kAttrClockKhz = 13;
inline constexpr int kAttrSmCount = 16;
inline constexpr int kAttrMemoryClockKhz = 36;
inline constexpr int kAttrMemoryBusBits = 37;
inline constexpr int kAttrL2Bytes = 38;
inline constexpr int kAttrComputeMajor = 75;
inline constexpr int kAttrComputeMinor = 76;
inline constexpr int kAttrCooperativeLaunch = 95;
inline constexpr int kAttrMaxSharedPerBlockOptin = 97;
inline constexpr int kAttrClusterLaunch = 120;

// CUfunction_attribute.
inline constexpr int kFuncMaxThreads = 0;
inline constexpr int kFuncStaticShared = 1;
inline constexpr int kFuncLocalBytes = 3;
inline constexpr int kFuncRegisters = 4;
inline constexpr int kFuncMaxDynamicShared = 8;
inline constexpr int kFuncNonPortableCluster = 14;

// CUjit_option.
inline constexpr int kJitInfoLog = 3;
inline constexpr int kJitInfoLogBytes = 4;
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;
inline constexpr int kJitLineInfo = 13;

// CUlimit, stream, event, host memory and capture flags.
inline constexpr int kLimitPersistingL2 = 6;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kHostAllocDeviceMap = 2;
inline constexpr int kCaptureThreadLocal = 1;

// CUlaunchAttributeID.
inline constexpr unsigned kLaunchCooperative = 2;
inline constexpr unsigned kLaunchClusterDimension = 4;

/// CUlaunchAttribute: an id, padding to 8 bytes, a 64-byte union.
struct CuLaunchAttribute {
  unsigned id;
  unsigned pad;
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(CuLaunchAttribute) == 72);

/// CUlaunchConfig.
struct CuLaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CuStream stream;
  CuLaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(CuLaunchConfig) == 56);

// One row per entry point: our name, the driver's symbol, its parameters. A driver without a
// required row is too old for us (CUDA 11.8 has them all). Without an optional row, only some check
// is missing.
#define KW_CUDA_REQUIRED(X)                                                                        \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driver_version, "cuDriverGetVersion", (int* version))                                          \
  X(error_name, "cuGetErrorName", (CuResult error, const char** text))                             \
  X(error_string, "cuGetErrorString", (CuResult error, const char** text))                         \
  X(device_count, "cuDeviceGetCount", (int* count))                                                \
  X(device_get, "cuDeviceGet", (CuDevice * device, int ordinal))                                   \
  X(device_name, "cuDeviceGetName", (char* name, int length, CuDevice device))                     \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, CuDevice device))        \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, CuDevice device))                       \
  X(device_uuid, "cuDeviceGetUuid_v2", (CuUuid * uuid, CuDevice device))                           \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (CuContext * context, CuDevice device))            \
  X(primary_release, "cuDevicePrimaryCtxRelease_v2", (CuDevice device))                            \
  X(context_set, "cuCtxSetCurrent", (CuContext context))                                           \
  X(context_synchronize, "cuCtxSynchronize", ())                                                   \
  X(context_set_limit, "cuCtxSetLimit", (int limit, size_t value))                                 \
  X(reset_persisting_l2, "cuCtxResetPersistingL2Cache", ())                                        \
  X(module_load, "cuModuleLoadDataEx",                                                             \
    (CuModule * module, const void* image, unsigned count, int* options, void** values))           \
  X(module_unload, "cuModuleUnload", (CuModule module))                                            \
  X(module_function, "cuModuleGetFunction",                                                        \
    (CuFunction * function, CuModule module, const char* name))                                    \
  X(module_global, "cuModuleGetGlobal_v2",                                                         \
    (CuDevicePtr * address, size_t * bytes, CuModule module, const char* name))                    \
  X(function_attribute, "cuFuncGetAttribute", (int* value, int attribute, CuFunction function))    \
  X(function_set_attribute, "cuFuncSetAttribute", (CuFunction function, int attribute, int value)) \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                      \
    (int* blocks, CuFunction function, int threads, size_t shared_bytes))                          \
  X(launch, "cuLaunchKernelEx",                                                                    \
    (const CuLaunchConfig* config, CuFunction function, void** params, void** extra))              \
  X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                   \
  X(memory_alloc, "cuMemAlloc_v2", (CuDevicePtr * address, size_t bytes))                          \
  X(memory_free, "cuMemFree_v2", (CuDevicePtr address))                                            \
  X(host_alloc, "cuMemHostAlloc", (void** address, size_t bytes, unsigned flags))                  \
  X(host_free, "cuMemFreeHost", (void* address))                                                   \
  X(host_device_pointer, "cuMemHostGetDevicePointer_v2",                                           \
    (CuDevicePtr * device, void* host, unsigned flags))                                            \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                        \
    (CuDevicePtr to, const void* from, size_t bytes, CuStream stream))                             \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                                          \
    (void* to, CuDevicePtr from, size_t bytes, CuStream stream))                                   \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                        \
    (CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream stream))                             \
  X(fill_bytes, "cuMemsetD8Async",                                                                 \
    (CuDevicePtr to, unsigned char value, size_t count, CuStream stream))                          \
  X(fill_words, "cuMemsetD32Async",                                                                \
    (CuDevicePtr to, unsigned value, size_t count, CuStream stream))                               \
  X(stream_create, "cuStreamCreate", (CuStream * stream, unsigned flags))                          \
  X(stream_destroy, "cuStreamDestroy_v2", (CuStream stream))                                       \
  X(stream_query, "cuStreamQuery", (CuStream stream))                                              \
  X(stream_synchronize, "cuStreamSynchronize", (CuStream stream))                                  \
  X(capture_begin, "cuStreamBeginCapture_v2", (CuStream stream, int mode))                         \
  X(capture_end, "cuStreamEndCapture", (CuStream stream, CuGraph * graph))                         \
  X(event_create, "cuEventCreate", (CuEvent * event, unsigned flags))                              \
  X(event_destroy, "cuEventDestroy_v2", (CuEvent event))                                           \
  X(event_record, "cuEventRecord", (CuEvent event, CuStream stream))                               \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                                              \
    (CuGraphExec * exec, CuGraph graph, unsigned long long flags))                                 \
  X(graph_upload, "cuGraphUpload", (CuGraphExec exec, CuStream stream))                            \
  X(graph_launch, "cuGraphLaunch", (CuGraphExec exec, CuStream stream))                            \
  X(graph_exec_destroy, "cuGraphExecDestroy", (CuGraphExec exec))                                  \
  X(graph_create, "cuGraphCreate", (CuGraph * graph, unsigned flags))                              \
  X(graph_add_child, "cuGraphAddChildGraphNode",                                                   \
    (CuGraphNode * node, CuGraph graph, const CuGraphNode* after, size_t count, CuGraph child))    \
  X(graph_destroy, "cuGraphDestroy", (CuGraph graph))
#define KW_CUDA_OPTIONAL(X)                                                               \
  X(function_parameter, "cuFuncGetParamInfo",                                             \
    (CuFunction function, size_t index, size_t * offset, size_t * bytes))                 \
  X(host_register, "cuMemHostRegister_v2", (void* address, size_t bytes, unsigned flags)) \
  X(host_unregister, "cuMemHostUnregister", (void* address))                              \
  X(profiler_start, "cuProfilerStart", ())                                                \
  X(profiler_stop, "cuProfilerStop", ())                                                  \
  X(context_push, "cuCtxPushCurrent_v2", (CuContext context))                             \
  X(context_pop, "cuCtxPopCurrent_v2", (CuContext * context))

/// The driver's entry points, null until bound.
struct Api {
#define KW_CUDA_MEMBER(member, symbol, parameters) CuResult(*member) parameters = nullptr;
  KW_CUDA_REQUIRED(KW_CUDA_MEMBER)
  KW_CUDA_OPTIONAL(KW_CUDA_MEMBER)
  // cuEventElapsedTime_v2, or the older one with the same parameters.
  CuResult (*event_elapsed)(float* milliseconds, CuEvent start, CuEvent end) = nullptr;
#undef KW_CUDA_MEMBER
};

}  // namespace kw::cuda
