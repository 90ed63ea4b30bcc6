// Streams, devices and the macros that choose a type: the rest of what host code of extensions uses.
#pragma once

#include <kw_tensor.cuh>

namespace at {
namespace cuda {
struct CUDAStream {
  cudaStream_t handle = nullptr;
  cudaStream_t stream() const { return handle; }
  operator cudaStream_t() const { return handle; }
  int64_t id() const { return 0; }
  Device device() const { return {}; }
  int device_index() const { return 0; }
  void synchronize() const { cudaStreamSynchronize(handle); }
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = 0) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, int = 0) {
  static cudaStream_t pool[4] = {};
  static int turn = 0;
  cudaStream_t& next = pool[turn++ % 4];
  if (next == nullptr) cudaStreamCreate(&next);
  return {next};
}
inline void setCurrentCUDAStream(CUDAStream) {}
struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(int64_t) {}
  void set_device(Device) {}
  void set_index(int64_t) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device>) {}
  explicit OptionalCUDAGuard(Device) {}
  explicit OptionalCUDAGuard(int64_t) {}
  void set_device(Device) {}
  void set_index(int64_t) {}
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream) {}
};
inline cudaDeviceProp* getDeviceProperties(int64_t = 0) {
  static cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return &properties;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }
inline int warp_size() { return 32; }
inline int current_device() { return 0; }
inline int device_count() { return 1; }
inline bool is_available() { return true; }
template <typename T>
KW_BOTH T ATenCeilDiv(T a, T b) {
  return (a + b - 1) / b;
}
namespace detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(int64_t count, int64_t threads = CUDA_NUM_THREADS) {
  return static_cast<int>((count + threads - 1) / threads);
}
}  // namespace detail
}  // namespace cuda

using DeviceGuard = cuda::OptionalCUDAGuard;
inline std::optional<Device> device_of(const Tensor& tensor) { return tensor.device(); }
template <typename T>
KW_BOTH T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

/// The type in which numbers of a type are accumulated.
template <typename T, bool = true>
struct AccumulateType {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
};
#define KW_SUMS_IN_FLOAT(Name)          \
  template <bool kCuda>                 \
  struct AccumulateType<Name, kCuda> {  \
    using type = float;                 \
  };
KW_SUMS_IN_FLOAT(Half)
KW_SUMS_IN_FLOAT(BFloat16)
template <typename T, bool kCuda = true>
using acc_type = typename AccumulateType<T, kCuda>::type;
template <typename T>
using opmath_type = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace at

namespace c10 {
using at::DeviceGuard;
using at::Scalar;
using at::TensorOptions;
using OptionalDeviceGuard = at::cuda::OptionalCUDAGuard;
template <typename T>
using List = std::vector<T>;
namespace cuda {
using namespace at::cuda;
}
}  // namespace c10

inline at::ScalarType kw_kind_of(at::ScalarType type) { return type; }
inline at::ScalarType kw_kind_of(const at::DeprecatedTypeProperties& type) { return type.kind; }

#define AT_DISPATCH_SWITCH(kind, name, ...)                            \
  [&] {                                                                \
    const at::ScalarType kw_kind = kw_kind_of(kind);                   \
    switch (kw_kind) {                                                 \
      __VA_ARGS__                                                      \
      default:                                                         \
        AT_ERROR("\"", name, "\" not implemented for '", kw_kind, "'"); \
    }                                                                  \
  }()
#define AT_DISPATCH_CASE(which, ...)                                         \
  case which: {                                                              \
    using scalar_t [[maybe_unused]] = typename c10::KwCppType<which>::type;  \
    return __VA_ARGS__();                                                    \
  }
#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                  \
  AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__)       \
  AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)            \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__)   \
  AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__)   \
  AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__)    \
  AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__)   \
  AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...)  \
  AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(kind, name, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(at::ScalarType::Half, kind, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(one, kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(one, two, kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND3(one, two, three, kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__) AT_DISPATCH_CASE(three, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(one, kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(one, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(one, two, kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(one, two, three, kind, name, ...) \
  AT_DISPATCH_SWITCH(kind, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__) AT_DISPATCH_CASE(three, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(kind, name, ...)                                               \
  [&] {                                                                                        \
    switch (kw_kind_of(kind)) {                                                                \
      case at::ScalarType::Int: { using index_t [[maybe_unused]] = int32_t; return __VA_ARGS__(); }  \
      case at::ScalarType::Long: { using index_t [[maybe_unused]] = int64_t; return __VA_ARGS__(); } \
      default: AT_ERROR("\"", name, "\" takes other indices");                                 \
    }                                                                                          \
  }()

#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                          \
  int64_t kw_next_of_##i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;                  \
  for (index_type i = kw_next_of_##i; kw_next_of_##i < (n); kw_next_of_##i += blockDim.x * gridDim.x, i = kw_next_of_##i)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
