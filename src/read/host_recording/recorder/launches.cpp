// The problem: nvcc's host code registers kernels before main and launches them by address. The
// choice: implement its registration functions, and map each address to the kernel's facts from the
// PTX. A launch that a device would refuse fails here too; otherwise its parameters are recorded as
// bytes. The alternative, intercepting the driver, would need a driver on the machine. The cost:
// nvcc's internal functions and structures are copied here and may change with CUDA.
#include <cstring>
#include <string>
#include <vector>

#include "host_recording/recorder/state.h"

using kw::recorder::fail;
using kw::recorder::LaunchDims;
using kw::recorder::refuse;
using kw::recorder::state;
using kw::recorder::write_line;

namespace kw::recorder {
namespace {

struct Configuration {
  LaunchDims grid{1, 1, 1}, block{1, 1, 1};
  size_t shared = 0;
  void* stream = nullptr;
};
std::vector<Configuration>& pending() {
  static auto* const stack = new std::vector<Configuration>;
  return *stack;
}

struct Extras {
  LaunchDims cluster{1, 1, 1};
  bool cooperative = false;
};

std::string text(const LaunchDims& dims) {
  return " " + std::to_string(dims.x) + " " + std::to_string(dims.y) + " " + std::to_string(dims.z);
}

int64_t attribute(int which) {
  const auto at = state().attributes.find(which);
  return at == state().attributes.end() ? 0 : at->second;
}

bool good_geometry(const RecordedKernel& kernel, const Configuration& how) {
  const uint64_t threads = uint64_t{how.block.x} * how.block.y * how.block.z;
  const bool grid = how.grid.x > 0 && how.grid.y > 0 && how.grid.z > 0 &&
                    how.grid.x <= 2147483647u && how.grid.y <= 65535 && how.grid.z <= 65535;
  const uint64_t most = kernel.max_threads > 0 ? static_cast<uint64_t>(kernel.max_threads) : 1024;
  constexpr int kSharedOptIn = 97;
  const int64_t room = attribute(kSharedOptIn) - kernel.static_shared;
  return grid && threads > 0 && threads <= most && how.block.z <= 64 &&
         static_cast<int64_t>(how.shared) <= room;
}

int launch(const void* function, const Configuration& how, void** args, const Extras& extras) {
  const auto at = state().functions.find(function);
  if (at == state().functions.end()) return fail(kInvalidFunction);
  const RecordedKernel& kernel = *at->second;
  if (!good_geometry(kernel, how)) {
    write_line("failed " + std::to_string(kInvalidConfiguration) + " " + kernel.entry);
    return fail(kInvalidConfiguration);
  }
  std::string line = "launch " + kernel.entry + text(how.grid) + text(how.block) + " " +
                     std::to_string(how.shared) + text(extras.cluster) + " " +
                     (extras.cooperative ? "1 " : "0 ") + std::to_string(as_number(how.stream)) +
                     " " + std::to_string(kernel.params.size());
  for (size_t i = 0; i < kernel.params.size(); ++i) line += " " + hex(args[i], kernel.params[i]);
  write_line(line);
  return kSuccess;
}

// CUDA's own structures, with the fields that launches need.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char room[64];
    int cooperative;
    LaunchDims cluster;
  } value;
};
struct LaunchConfig {
  LaunchDims grid, block;
  size_t shared;
  void* stream;
  LaunchAttribute* attributes;
  unsigned count;
};

int launch_with(const LaunchConfig& config, const void* function, void** args) {
  enum : int {
    kCooperative = 2,
    kClusterDimension = 4,
    kSerialization = 6,
    kProgrammaticEvent = 7
  };
  Extras extras;
  for (unsigned i = 0; i < config.count; ++i) {
    const LaunchAttribute& one = config.attributes[i];
    if (one.id == kCooperative) extras.cooperative = one.value.cooperative != 0;
    if (one.id == kClusterDimension) extras.cluster = one.value.cluster;
    if (one.id == kProgrammaticEvent || (one.id == kSerialization && one.value.cooperative != 0))
      return refuse("programmatic dependent launch");
  }
  return launch(function, {config.grid, config.block, config.shared, config.stream}, args, extras);
}

}  // namespace
}  // namespace kw::recorder

KW_RECORDED void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
KW_RECORDED void __cudaRegisterFatBinaryEnd(void**) {}
KW_RECORDED void __cudaUnregisterFatBinary(void**) {}
KW_RECORDED char __cudaInitModule(void**) { return 1; }
KW_RECORDED void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int,
                                        void*, void*, void*, void*, int*) {
  const auto at = state().kernels.find(name);
  if (at != state().kernels.end()) state().functions[function] = &at->second;
}
KW_RECORDED void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t size,
                                   int, int) {
  state().variables[host] = {name, size};
}
KW_RECORDED void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int,
                                          int) {
  refuse("managed memory");
}
KW_RECORDED unsigned __cudaPushCallConfiguration(LaunchDims grid, LaunchDims block, size_t shared,
                                                 void* stream) {
  kw::recorder::pending().push_back({grid, block, shared, stream});
  return 0;
}
KW_RECORDED int __cudaPopCallConfiguration(LaunchDims* grid, LaunchDims* block, size_t* shared,
                                           void* stream) {
  auto& pending = kw::recorder::pending();
  if (pending.empty()) return fail(kw::recorder::kInvalidConfiguration);
  *grid = pending.back().grid;
  *block = pending.back().block;
  *shared = pending.back().shared;
  std::memcpy(stream, &pending.back().stream, sizeof(void*));
  pending.pop_back();
  return 0;
}
KW_RECORDED int __cudaGetKernel(void** handle, const void* function) {
  *handle = const_cast<void*>(function);
  return 0;
}
KW_RECORDED int cudaGetKernel(void** handle, const void* function) {
  return __cudaGetKernel(handle, function);
}
KW_RECORDED int cudaGetFuncBySymbol(void** handle, const void* function) {
  return __cudaGetKernel(handle, function);
}

KW_RECORDED int cudaLaunchKernel(const void* function, LaunchDims grid, LaunchDims block,
                                 void** args, size_t shared, void* stream) {
  return kw::recorder::launch(function, {grid, block, shared, stream}, args, {});
}
KW_RECORDED int cudaLaunchKernel_ptsz(const void* function, LaunchDims grid, LaunchDims block,
                                      void** args, size_t shared, void* stream) {
  return cudaLaunchKernel(function, grid, block, args, shared, stream);
}
KW_RECORDED int __cudaLaunchKernel(void* handle, LaunchDims grid, LaunchDims block, void** args,
                                   size_t shared, void* stream) {
  return cudaLaunchKernel(handle, grid, block, args, shared, stream);
}
KW_RECORDED int __cudaLaunchKernel_ptsz(void* handle, LaunchDims grid, LaunchDims block,
                                        void** args, size_t shared, void* stream) {
  return cudaLaunchKernel(handle, grid, block, args, shared, stream);
}
KW_RECORDED int cudaLaunchCooperativeKernel(const void* function, LaunchDims grid, LaunchDims block,
                                            void** args, size_t shared, void* stream) {
  return kw::recorder::launch(function, {grid, block, shared, stream}, args, {{1, 1, 1}, true});
}
KW_RECORDED int cudaLaunchKernelExC(const void* config, const void* function, void** args) {
  return kw::recorder::launch_with(*static_cast<const kw::recorder::LaunchConfig*>(config),
                                   function, args);
}
KW_RECORDED int cudaLaunchKernelExC_ptsz(const void* config, const void* function, void** args) {
  return cudaLaunchKernelExC(config, function, args);
}
KW_RECORDED int cudaLaunchHostFunc(void*, void (*)(void*), void*) {
  return refuse("a host callback");
}
KW_RECORDED int cudaStreamAddCallback(void*, void (*)(void*, int, void*), void*, unsigned) {
  return refuse("a host callback");
}
