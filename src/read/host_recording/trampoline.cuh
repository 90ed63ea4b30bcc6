
// Follows a foreign file and is compiled with it: calls its launcher with arguments of any type, and
// holds what depends on the version of CUDA's headers.
#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

extern "C" long kw_record_attribute(int which);
extern "C" long kw_record_function(const void* function, int what);
extern "C" int kw_record_pointer_kind(const void* pointer);
extern "C" const char* kw_record_device_name();
extern "C" void kw_record_device_id(unsigned char* bytes);

#if !defined(__CUDA_ARCH__)
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* kw_prop, int kw_device) {
  int kw_devices = 0;
  if (cudaGetDeviceCount(&kw_devices) != cudaSuccess || kw_device < 0 || kw_device >= kw_devices)
    return cudaErrorInvalidDevice;
  *kw_prop = cudaDeviceProp{};
  const char* const kw_name = kw_record_device_name();
  for (unsigned kw_i = 0; kw_name[kw_i] != 0; ++kw_i) kw_prop->name[kw_i] = kw_name[kw_i];
  kw_record_device_id(reinterpret_cast<unsigned char*>(kw_prop->uuid.bytes));
  kw_prop->pciBusID = static_cast<int>(kw_record_attribute(33));
  kw_prop->pciDeviceID = static_cast<int>(kw_record_attribute(34));
  kw_prop->pciDomainID = static_cast<int>(kw_record_attribute(50));
  kw_prop->totalGlobalMem = static_cast<size_t>(kw_record_attribute(-2));
  kw_prop->sharedMemPerBlock = static_cast<size_t>(kw_record_attribute(8));
  kw_prop->regsPerBlock = static_cast<int>(kw_record_attribute(12));
  kw_prop->warpSize = static_cast<int>(kw_record_attribute(10));
  kw_prop->maxThreadsPerBlock = static_cast<int>(kw_record_attribute(1));
  for (int kw_i = 0; kw_i < 3; ++kw_i) {
    kw_prop->maxThreadsDim[kw_i] = static_cast<int>(kw_record_attribute(2 + kw_i));
    kw_prop->maxGridSize[kw_i] = static_cast<int>(kw_record_attribute(5 + kw_i));
  }
  kw_prop->totalConstMem = static_cast<size_t>(kw_record_attribute(9));
  kw_prop->multiProcessorCount = static_cast<int>(kw_record_attribute(16));
  kw_prop->l2CacheSize = static_cast<int>(kw_record_attribute(38));
  kw_prop->maxThreadsPerMultiProcessor = static_cast<int>(kw_record_attribute(39));
  kw_prop->major = static_cast<int>(kw_record_attribute(75));
  kw_prop->minor = static_cast<int>(kw_record_attribute(76));
  kw_prop->sharedMemPerMultiprocessor = static_cast<size_t>(kw_record_attribute(81));
  kw_prop->regsPerMultiprocessor = static_cast<int>(kw_record_attribute(82));
  kw_prop->sharedMemPerBlockOptin = static_cast<size_t>(kw_record_attribute(97));
  kw_prop->maxBlocksPerMultiProcessor = static_cast<int>(kw_record_attribute(106));
  kw_prop->cooperativeLaunch = 1;
  kw_prop->concurrentKernels = 1;
  kw_prop->unifiedAddressing = 1;
  return cudaSuccess;
}

extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* kw_found, const void* kw_kernel) {
  if (kw_record_function(kw_kernel, 0) < 0) return cudaErrorInvalidDeviceFunction;
  *kw_found = cudaFuncAttributes{};
  kw_found->numRegs = static_cast<int>(kw_record_function(kw_kernel, 0));
  kw_found->sharedSizeBytes = static_cast<size_t>(kw_record_function(kw_kernel, 1));
  kw_found->localSizeBytes = static_cast<size_t>(kw_record_function(kw_kernel, 2));
  const long kw_most = kw_record_function(kw_kernel, 3);
  kw_found->maxThreadsPerBlock = kw_most > 0 ? static_cast<int>(kw_most) : 1024;
  kw_found->maxDynamicSharedSizeBytes = static_cast<int>(kw_record_attribute(97));
  return cudaSuccess;
}

extern "C" cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* kw_found,
                                                const void* kw_pointer) {
  *kw_found = cudaPointerAttributes{};
  const int kw_kind = kw_record_pointer_kind(kw_pointer);
  kw_found->type = kw_kind == 2   ? cudaMemoryTypeDevice
                   : kw_kind == 1 ? cudaMemoryTypeHost
                                  : cudaMemoryTypeUnregistered;
  if (kw_kind == 2) kw_found->devicePointer = const_cast<void*>(kw_pointer);
  if (kw_kind != 2) kw_found->hostPointer = const_cast<void*>(kw_pointer);
  return cudaSuccess;
}
#endif

#ifdef KW_LAUNCHER
template <typename KwType>
struct KwArgument {
  static KwType& get(void* kw_from) { return *static_cast<KwType*>(kw_from); }
};
template <typename KwType>
void kw_take(const KwType&) {}
#ifdef KW_TORCH
template <>
struct KwArgument<at::Tensor> {
  static at::Tensor get(void* kw_from) { return static_cast<KwTensorArgument*>(kw_from)->tensor(); }
};
template <>
struct KwArgument<std::optional<at::Tensor>> {
  static std::optional<at::Tensor> get(void* kw_from) { return KwArgument<at::Tensor>::get(kw_from); }
};
inline void kw_take(const at::Tensor& kw_one) { kw_give(0, kw_one); }
inline void kw_take(const std::vector<at::Tensor>& kw_all) {
  for (std::size_t kw_i = 0; kw_i < kw_all.size(); ++kw_i) kw_give(static_cast<int>(kw_i), kw_all[kw_i]);
}
template <typename... KwTypes>
void kw_take(const std::tuple<KwTypes...>& kw_all) {
  int kw_i = 0;
  std::apply([&](const auto&... kw_one) { (kw_give(kw_i++, kw_one), ...); }, kw_all);
}
#endif
template <typename KwResult, typename... KwArgs, std::size_t... kKwI>
void kw_apply(KwResult (*kw_launcher)(KwArgs...), void** kw_args, std::index_sequence<kKwI...>) {
  (void)kw_args;
  if constexpr (std::is_void_v<KwResult>)
    kw_launcher(KwArgument<std::remove_cv_t<std::remove_reference_t<KwArgs>>>::get(kw_args[kKwI])...);
  else
    kw_take(kw_launcher(KwArgument<std::remove_cv_t<std::remove_reference_t<KwArgs>>>::get(kw_args[kKwI])...));
}
template <typename KwResult, typename... KwArgs>
void kw_call(KwResult (*kw_launcher)(KwArgs...), void** kw_args) {
  kw_apply(kw_launcher, kw_args, std::index_sequence_for<KwArgs...>{});
}
extern "C" __attribute__((visibility("default"))) void KW_ENTRY(void** kw_args) noexcept {
#ifdef KW_TORCH
  try {
    kw_call(&KW_LAUNCHER, kw_args);
  } catch (...) {  // the exception of kw_computes, or what the file made of it
    if (!kw_refused) std::abort();
  }
#else
  kw_call(&KW_LAUNCHER, kw_args);
#endif
}
#endif
