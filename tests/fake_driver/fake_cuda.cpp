// The driver's entry points over the pretended GPU. Loaded through $KERNELWRIGHT_LIBCUDA in tests.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "fake_state.h"

namespace kw::cuda {

struct CuStreamHandle : fake::Stream {};
struct CuModuleHandle : fake::Module {
  std::map<std::string, fake::Function> functions;
};
struct CuFunctionHandle {};
struct CuEventHandle {
  std::chrono::steady_clock::time_point at;
  bool happened = false;
};
struct CuGraphHandle {
  std::vector<fake::Operation> operations;
};
struct CuGraphExecHandle : CuGraphHandle {};

namespace {

constexpr CuResult kInvalidHandle = 400;

size_t memory_bytes() {
  const char* text = std::getenv("KW_FAKE_MEMORY");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : size_t{128} << 20;
}

/// One word per launch and mark into the file $KW_FAKE_LOG names, where it names one.
void log_word(const char* word) {
  const char* path = std::getenv("KW_FAKE_LOG");
  if (path != nullptr) std::ofstream(path, std::ios::app) << word << "\n";
}

/// The stream that is there without being made.
CuStream default_stream() {
  static const CuStream stream = [] {
    CuStream made = new CuStreamHandle();
    fake::device().streams.push_back(made);
    return made;
  }();
  return stream;
}

CuResult enqueue(CuStream stream, fake::Operation operation) {
  const std::lock_guard guard(fake::device().mutex);
  if (stream == nullptr) stream = default_stream();
  if (fake::device().sticky != 0) return fake::device().sticky;
  if (stream->capture != nullptr) {
    stream->capture->push_back(std::move(operation));
  } else {
    stream->queue.push_back(std::move(operation));
  }
  return kSuccess;
}

struct ErrorRow {
  CuResult code;
  const char* name;
  const char* text;
};
constexpr ErrorRow kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorRow* find_error(CuResult code) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

/// The value given for a JIT option, or nullptr.
void* jit_option(unsigned count, const int* options, void** values, int wanted) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == wanted) return values[i];
  }
  return nullptr;
}

}  // namespace

extern "C" {

CuResult cuInit(unsigned) { return fake::asked_for("init-error") ? 999 : kSuccess; }
CuResult cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}
CuResult cuGetErrorName(CuResult error, const char** text) {
  const ErrorRow* row = find_error(error);
  *text = row != nullptr ? row->name : nullptr;
  return row != nullptr ? kSuccess : kInvalidValue;
}
CuResult cuGetErrorString(CuResult error, const char** text) {
  const ErrorRow* row = find_error(error);
  *text = row != nullptr ? row->text : nullptr;
  return row != nullptr ? kSuccess : kInvalidValue;
}
CuResult cuDeviceGetCount(int* count) {
  *count = fake::asked_for("no-device") ? 0 : 1;
  return kSuccess;
}
CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}
CuResult cuDeviceGetName(char* name, int length, CuDevice) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(length));
  return kSuccess;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  switch (attribute) {
    case kAttrMaxSharedPerBlock:
      *value = 49152;
      break;
    case kAttrClockKhz:
      *value = 1980000;
      break;
    case kAttrSmCount:
      *value = 4;
      break;
    case kAttrMemoryClockKhz:
      *value = 3201000;
      break;
    case kAttrMemoryBusBits:
      *value = 6144;
      break;
    case kAttrL2Bytes:
      *value = 1 << 20;
      break;
    case kAttrComputeMajor:
      *value = 9;
      break;
    case kAttrComputeMinor:
      *value = 0;
      break;
    case kAttrCooperativeLaunch:
      *value = 1;
      break;
    case kAttrMaxSharedPerBlockOptin:
      *value = 232448;
      break;
    case kAttrClusterLaunch:
      *value = 1;
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}
CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice) {
  *bytes = memory_bytes();
  return kSuccess;
}
CuResult cuDeviceGetUuid_v2(CuUuid* uuid, CuDevice) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<unsigned char>(0xf0 + i);
  return kSuccess;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  *context = reinterpret_cast<CuContext>(&fake::device());
  return kSuccess;
}
CuResult cuDevicePrimaryCtxRelease_v2(CuDevice) { return kSuccess; }
CuResult cuCtxSetCurrent(CuContext) { return kSuccess; }
CuResult cuCtxPushCurrent_v2(CuContext) { return kSuccess; }
CuResult cuCtxPopCurrent_v2(CuContext* context) {
  *context = nullptr;
  return kSuccess;
}
CuResult cuProfilerStart() {
  log_word("start");
  return kSuccess;
}
CuResult cuProfilerStop() {
  log_word("stop");
  return kSuccess;
}
CuResult cuCtxSynchronize() { return fake::device().drain_all(); }
CuResult cuCtxSetLimit(int, size_t) { return kSuccess; }
CuResult cuCtxResetPersistingL2Cache() { return kSuccess; }

CuResult cuModuleLoadDataEx(CuModule* module, const void* image, unsigned count, int* options,
                            void** values) {
  const std::string text(static_cast<const char*>(image));
  const bool cubin = text.rfind("\177ELF", 0) == 0;
  if (!cubin && text.find(".version") == std::string::npos) {
    if (void* log = jit_option(count, options, values, kJitErrorLog)) {
      std::strcpy(static_cast<char*>(log), "ptxas fatal   : Ptx assembly aborted due to errors");
    }
    return 218;
  }
  if (text.find("abort the driver") != std::string::npos) std::abort();
  *module = new CuModuleHandle();
  (*module)->text = text;
  if (text.find(".global .u32 state") != std::string::npos) (*module)->globals["state"].resize(4);
  return kSuccess;
}
CuResult cuModuleUnload(CuModule module) {
  const CuResult code = fake::device().drain_all();
  delete module;
  return code;
}
CuResult cuModuleGetFunction(CuFunction* function, CuModule module, const char* name) {
  const fake::Kernel* kernel = fake::find_kernel(name);
  const bool cubin = module->text.rfind("\177ELF", 0) == 0;  // whose names are not looked for
  if (kernel == nullptr ||
      (!cubin && module->text.find(std::string(".entry ") + name) == std::string::npos))
    return fake::kNotFound;
  fake::Function& found = module->functions[name];
  found.module = module;
  found.kernel = kernel;
  *function = reinterpret_cast<CuFunction>(&found);
  return kSuccess;
}
CuResult cuModuleGetGlobal_v2(CuDevicePtr* address, size_t* bytes, CuModule module,
                              const char* name) {
  auto found = module->globals.find(name);
  if (found == module->globals.end()) return fake::kNotFound;
  *address = reinterpret_cast<CuDevicePtr>(found->second.data());
  *bytes = found->second.size();
  return kSuccess;
}
CuResult cuFuncGetAttribute(int* value, int attribute, CuFunction function) {
  switch (attribute) {
    case kFuncMaxThreads:
      *value = 1024;
      break;
    case kFuncRegisters:
      *value = 32;
      break;
    case kFuncMaxDynamicShared:
      *value = reinterpret_cast<fake::Function*>(function)->max_dynamic_shared;
      break;
    default:
      *value = 0;
  }
  return kSuccess;
}
CuResult cuFuncSetAttribute(CuFunction function, int attribute, int value) {
  if (attribute == kFuncMaxDynamicShared)
    reinterpret_cast<fake::Function*>(function)->max_dynamic_shared = value;
  return kSuccess;
}
CuResult cuFuncGetParamInfo(CuFunction function, size_t index, size_t* offset, size_t* bytes) {
  const auto& sizes = reinterpret_cast<fake::Function*>(function)->kernel->param_bytes;
  if (index >= sizes.size()) return kInvalidValue;
  *offset = 0;
  *bytes = sizes[index];
  return kSuccess;
}
CuResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CuFunction, int threads, size_t) {
  *blocks = 2048 / threads;
  return kSuccess;
}
CuResult cuLaunchKernelEx(const CuLaunchConfig* config, CuFunction function, void** params,
                          void**) {
  const auto* known = reinterpret_cast<fake::Function*>(function);
  if (config->shared_bytes > static_cast<unsigned>(known->max_dynamic_shared)) return kInvalidValue;
  fake::Launch launch{known->module,
                      {config->grid_x, config->grid_y, config->grid_z},
                      {config->block_x, config->block_y, config->block_z},
                      config->shared_bytes,
                      1,
                      false,
                      {}};
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const CuLaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kLaunchCooperative) launch.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == kLaunchClusterDimension) launch.cluster = attribute.value.cluster.x;
  }
  for (size_t i = 0; i < known->kernel->param_bytes.size(); ++i) {
    const char* from = static_cast<const char*>(params[i]);
    launch.params.emplace_back(from, from + known->kernel->param_bytes[i]);
  }
  log_word("launch");
  auto run = known->kernel->run;
  const bool stamped = fake::stamps().enabled;
  return enqueue(config->stream, [launch, run, stamped]() -> CuResult {
    const uint64_t start = fake::now();
    const CuResult code = fake::is_sick() ? fake::kEcc : run(launch);
    if (stamped && code == kSuccess) fake::stamps().records.push_back({10, {}, start, fake::now()});
    return code;
  });
}

CuResult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = memory_bytes();
  *free_bytes = memory_bytes() - fake::device().used;
  return kSuccess;
}
CuResult cuMemAlloc_v2(CuDevicePtr* address, size_t bytes) {
  fake::Device& device = fake::device();
  const std::lock_guard guard(device.mutex);
  if (device.sticky != 0) return device.sticky;
  if (bytes == 0) return kInvalidValue;
  if (bytes > memory_bytes() - device.used) return kOutOfMemory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) return kOutOfMemory;
  std::memset(memory, 0xcd, bytes);
  *address = reinterpret_cast<CuDevicePtr>(memory);
  device.allocations[*address] = bytes;
  device.used += bytes;
  return kSuccess;
}
CuResult cuMemFree_v2(CuDevicePtr address) {
  fake::Device& device = fake::device();
  const CuResult code = device.drain_all();  // as the real one does: a hang is waited for
  const std::lock_guard guard(device.mutex);
  auto found = device.allocations.find(address);
  if (found == device.allocations.end()) return kInvalidValue;
  device.used -= found->second;
  device.allocations.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return code;
}
CuResult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  *address = std::calloc(1, bytes);
  return kSuccess;
}
CuResult cuMemFreeHost(void* address) {
  std::free(address);
  return kSuccess;
}
CuResult cuMemHostGetDevicePointer_v2(CuDevicePtr* device, void* host, unsigned) {
  *device = reinterpret_cast<CuDevicePtr>(host);
  return kSuccess;
}
CuResult cuMemcpyHtoDAsync_v2(CuDevicePtr to, const void* from, size_t bytes, CuStream stream) {
  return enqueue(stream, [=] {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return kSuccess;
  });
}
CuResult cuMemcpyDtoHAsync_v2(void* to, CuDevicePtr from, size_t bytes, CuStream stream) {
  return enqueue(stream, [=] {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return kSuccess;
  });
}
CuResult cuMemcpyDtoDAsync_v2(CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream stream) {
  return enqueue(stream, [=] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    return kSuccess;
  });
}
CuResult cuMemsetD8Async(CuDevicePtr to, unsigned char value, size_t count, CuStream stream) {
  return enqueue(stream, [=] {
    std::memset(reinterpret_cast<void*>(to), value, count);
    return kSuccess;
  });
}
CuResult cuMemsetD32Async(CuDevicePtr to, unsigned value, size_t count, CuStream stream) {
  return enqueue(stream, [=] {
    auto* words = reinterpret_cast<unsigned*>(to);
    for (size_t i = 0; i < count; ++i) words[i] = value;
    return kSuccess;
  });
}

CuResult cuStreamCreate(CuStream* stream, unsigned) {
  *stream = new CuStreamHandle();
  fake::device().streams.push_back(*stream);
  return kSuccess;
}
CuResult cuStreamDestroy_v2(CuStream stream) {
  {
    const std::lock_guard guard(fake::device().mutex);
    std::erase(fake::device().streams, stream);
  }
  delete stream;
  return kSuccess;
}
CuResult cuStreamQuery(CuStream stream) {
  const std::lock_guard guard(fake::device().mutex);
  return fake::device().drain(*stream);
}
CuResult cuStreamSynchronize(CuStream stream) {
  CuResult code = kNotReady;
  while ((code = cuStreamQuery(stream)) == kNotReady)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return code;
}
CuResult cuStreamBeginCapture_v2(CuStream stream, int) {
  stream->capture = new std::vector<fake::Operation>();
  return kSuccess;
}
CuResult cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  if (stream->capture == nullptr) return kInvalidHandle;
  *graph = new CuGraphHandle{std::move(*stream->capture)};
  delete stream->capture;
  stream->capture = nullptr;
  return kSuccess;
}
CuResult cuEventCreate(CuEvent* event, unsigned) {
  *event = new CuEventHandle();
  return kSuccess;
}
CuResult cuEventDestroy_v2(CuEvent event) {
  delete event;
  return kSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream stream) {
  event->happened = false;
  return enqueue(stream, [event] {
    event->at = std::chrono::steady_clock::now();
    event->happened = true;
    return kSuccess;
  });
}
CuResult cuEventElapsedTime(float* milliseconds, CuEvent start, CuEvent end) {
  if (!start->happened || !end->happened) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - start->at).count();
  return kSuccess;
}
CuResult cuGraphInstantiateWithFlags(CuGraphExec* exec, CuGraph graph, unsigned long long) {
  *exec = new CuGraphExecHandle();
  (*exec)->operations = graph->operations;
  return kSuccess;
}
CuResult cuGraphUpload(CuGraphExec, CuStream) { return kSuccess; }
CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  for (const fake::Operation& operation : exec->operations) {
    if (CuResult code = enqueue(stream, operation); code != kSuccess) return code;
  }
  return kSuccess;
}
CuResult cuGraphExecDestroy(CuGraphExec exec) {
  delete exec;
  return kSuccess;
}
CuResult cuGraphCreate(CuGraph* graph, unsigned) {
  *graph = new CuGraphHandle();
  return kSuccess;
}
CuResult cuGraphAddChildGraphNode(CuGraphNode* node, CuGraph graph, const CuGraphNode*, size_t,
                                  CuGraph child) {
  graph->operations.insert(graph->operations.end(), child->operations.begin(),
                           child->operations.end());
  *node = reinterpret_cast<CuGraphNode>(graph);
  return kSuccess;
}
CuResult cuMemHostRegister_v2(void*, size_t, unsigned) {
  return fake::asked_for("no-pinning") ? kInvalidValue : kSuccess;
}
CuResult cuMemHostUnregister(void*) { return kSuccess; }
CuResult cuGraphDestroy(CuGraph graph) {
  delete graph;
  return kSuccess;
}

// The profiling library: kernels launched while it is enabled are stamped.
int cuptiActivityRegisterCallbacks(fake::Stamps::Requested requested,
                                   fake::Stamps::Completed completed) {
  fake::stamps().requested = requested;
  fake::stamps().completed = completed;
  return fake::asked_for("no-cupti") ? 1 : 0;
}
int cuptiActivityEnable(uint32_t) {
  fake::stamps().enabled = true;
  return 0;
}
int cuptiActivityDisable(uint32_t) {
  fake::stamps().enabled = false;
  return 0;
}
int cuptiActivityFlushAll(uint32_t) {
  fake::Stamps& stamps = fake::stamps();
  if (stamps.records.empty()) return 0;
  uint8_t* buffer = nullptr;
  size_t size = 0;
  size_t most = 0;
  stamps.requested(&buffer, &size, &most);
  const size_t bytes = stamps.records.size() * sizeof(fake::Stamp);
  std::memcpy(buffer, stamps.records.data(), bytes);
  stamps.records.clear();
  stamps.completed(nullptr, 0, buffer, size, bytes);
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  uint8_t* next =
      *record == nullptr ? buffer : static_cast<uint8_t*>(*record) + sizeof(fake::Stamp);
  if (next + sizeof(fake::Stamp) > buffer + valid) return 12;
  *record = next;
  return 0;
}

// The management library, in the same file: clocks as the test wishes them.
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "999.01", length);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char*, void** device) {
  *device = &fake::device();
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? fake::sm_clock_mhz() : 3201;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* degrees) {
  *degrees = 41;
  return 0;
}

}  // extern "C"

}  // namespace kw::cuda
