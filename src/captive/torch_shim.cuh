// What the host code of a torch extension needs of PyTorch while it is recorded: tensors as an
// address with a shape and a type, memory, streams and checks. Nothing here computes; what is
// missing does not compile, which is the point.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

extern "C" void kw_record_result(int index, const void* data, unsigned long bytes);

namespace c10 {

enum class ScalarType : int {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  Bool = 11,
  BFloat16 = 15
};
inline int64_t kw_size(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
      return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return 2;
    case ScalarType::Int:
    case ScalarType::Float:
      return 4;
    default:
      return 8;
  }
}

using Half = __half;
using BFloat16 = __nv_bfloat16;
enum class DeviceType : int { CPU, CUDA };
constexpr DeviceType kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
struct Device {
  DeviceType kind = DeviceType::CUDA;
  int number = 0;
  Device() = default;
  Device(DeviceType type, int index = 0) : kind(type), number(index) {}
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  DeviceType type() const { return kind; }
  int index() const { return number; }
  bool operator==(const Device& other) const { return kind == other.kind; }
  bool operator!=(const Device& other) const { return kind != other.kind; }
};
struct IntArrayRef {
  std::vector<int64_t> values;
  IntArrayRef(std::initializer_list<int64_t> list) : values(list) {}
  IntArrayRef(std::vector<int64_t> list) : values(std::move(list)) {}
  IntArrayRef(int64_t one) : values{one} {}
  size_t size() const { return values.size(); }
  int64_t operator[](size_t i) const { return values[i]; }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
  std::vector<int64_t> vec() const { return values; }
  bool operator==(const IntArrayRef& other) const { return values == other.values; }
  bool operator!=(const IntArrayRef& other) const { return values != other.values; }
};
template <typename T>
using optional = std::optional<T>;
using std::nullopt;

}  // namespace c10

namespace at {

using c10::BFloat16;
using c10::Device;
using c10::Half;
using c10::IntArrayRef;
using c10::kCPU;
using c10::kCUDA;
using c10::ScalarType;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float,
                     kDouble = ScalarType::Double, kFloat64 = ScalarType::Double,
                     kHalf = ScalarType::Half, kFloat16 = ScalarType::Half,
                     kBFloat16 = ScalarType::BFloat16, kInt = ScalarType::Int,
                     kInt32 = ScalarType::Int, kLong = ScalarType::Long, kInt64 = ScalarType::Long,
                     kBool = ScalarType::Bool, kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte,
                     kChar = ScalarType::Char, kInt8 = ScalarType::Char;

struct TensorOptions {
  ScalarType type = ScalarType::Float;
  TensorOptions dtype(ScalarType to) const { return {to}; }
  TensorOptions device(Device) const { return *this; }
  TensorOptions device(c10::DeviceType, int = 0) const { return *this; }
  TensorOptions requires_grad(bool) const { return *this; }
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(void* data, ScalarType type, std::vector<int64_t> sizes)
      : data_(data), type_(type), sizes_(std::move(sizes)) {}

  bool defined() const { return data_ != nullptr; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t i) const { return sizes_.at(static_cast<size_t>(i < 0 ? i + dim() : i)); }
  IntArrayRef sizes() const { return sizes_; }
  int64_t stride(int64_t i) const {
    int64_t step = 1;
    for (int64_t k = dim() - 1; k > (i < 0 ? i + dim() : i); --k)
      step *= sizes_[static_cast<size_t>(k)];
    return step;
  }
  IntArrayRef strides() const {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < dim(); ++i) all.push_back(stride(i));
    return all;
  }
  int64_t numel() const {
    int64_t count = 1;
    for (const int64_t extent : sizes_) count *= extent;
    return count;
  }
  int64_t element_size() const { return c10::kw_size(type_); }
  size_t nbytes() const { return static_cast<size_t>(numel() * element_size()); }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  Device device() const { return {}; }
  int64_t get_device() const { return 0; }
  bool is_cuda() const { return true; }
  bool is_contiguous() const { return true; }
  bool requires_grad() const { return false; }
  TensorOptions options() const { return {type_}; }
  void* data_ptr() const { return data_; }
  template <typename T>
  T* data_ptr() const {
    return static_cast<T*>(data_);
  }
  template <typename T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* const_data_ptr() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return static_cast<T*>(data_);
  }
  Tensor contiguous() const { return *this; }
  Tensor detach() const { return *this; }
  Tensor view(IntArrayRef sizes) const {
    std::vector<int64_t> all = sizes.values;
    int64_t known = 1;
    for (const int64_t extent : all) known *= extent < 0 ? 1 : extent;
    for (int64_t& extent : all) extent = extent < 0 && known != 0 ? numel() / known : extent;
    return {data_, type_, all};
  }
  Tensor reshape(IntArrayRef sizes) const { return view(std::move(sizes)); }
  Tensor flatten() const { return {data_, type_, {numel()}}; }
  Tensor unsqueeze(int64_t at) const {
    std::vector<int64_t> all = sizes_;
    all.insert(all.begin() + (at < 0 ? at + dim() + 1 : at), 1);
    return {data_, type_, all};
  }
  Tensor& zero_() {
    cudaMemsetAsync(data_, 0, nbytes());
    return *this;
  }

 private:
  void* data_ = nullptr;
  ScalarType type_ = ScalarType::Float;
  std::vector<int64_t> sizes_;
};

inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) {
  Tensor made(nullptr, options.type, sizes.values);
  void* data = nullptr;
  cudaMalloc(&data, made.nbytes() > 0 ? made.nbytes() : 1);
  return {data, options.type, sizes.values};
}
inline Tensor empty_like(const Tensor& other) { return empty(other.sizes(), other.options()); }
inline Tensor empty_like(const Tensor& other, TensorOptions options) {
  return empty(other.sizes(), options);
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) {
  Tensor made = empty(std::move(sizes), options);
  made.zero_();
  return made;
}
inline Tensor zeros_like(const Tensor& other) { return zeros(other.sizes(), other.options()); }

namespace cuda {
struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(int64_t) {}
};
using OptionalCUDAGuard = CUDAGuard;
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return &properties;
}
}  // namespace cuda
}  // namespace at

namespace c10::cuda {
using namespace at::cuda;
}

namespace torch {
using namespace at;
using c10::nullopt;
using c10::optional;
inline TensorOptions dtype(ScalarType type) { return {type}; }
inline TensorOptions device(Device) { return {}; }
}  // namespace torch

[[noreturn]] inline void kw_check_failed() { std::abort(); }
#define TORCH_CHECK(condition, ...) ((condition) ? (void)0 : kw_check_failed())
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition)
#define AT_ERROR(...) kw_check_failed()
#define C10_CUDA_CHECK(code) TORCH_CHECK((code) == cudaSuccess)
#define AT_CUDA_CHECK(code) C10_CUDA_CHECK(code)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

#define KW_DISPATCH_CASE(type, spelled, ...) \
  case at::ScalarType::type: {               \
    using scalar_t = spelled;                \
    __VA_ARGS__();                           \
    break;                                   \
  }
#define AT_DISPATCH_FLOATING_TYPES(kind, name, ...) \
  switch (kind) {                                   \
    KW_DISPATCH_CASE(Float, float, __VA_ARGS__)     \
    KW_DISPATCH_CASE(Double, double, __VA_ARGS__)   \
    default:                                        \
      kw_check_failed();                            \
  }
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(kind, name, ...) \
  switch (kind) {                                            \
    KW_DISPATCH_CASE(Float, float, __VA_ARGS__)              \
    KW_DISPATCH_CASE(Double, double, __VA_ARGS__)            \
    KW_DISPATCH_CASE(Half, at::Half, __VA_ARGS__)            \
    default:                                                 \
      kw_check_failed();                                     \
  }

/// The bindings are never made: the launcher is called by itself.
struct KwBindings {
  template <typename... Args>
  KwBindings& def(Args&&...) {
    return *this;
  }
  std::string& doc() {
    static std::string text;
    return text;
  }
};
#define TORCH_EXTENSION_NAME kw_extension
#define PYBIND11_MODULE(name, variable) \
  [[maybe_unused]] static void kw_bindings_of_##name(KwBindings& variable)
namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <typename T>
  arg& operator=(T&&) {
    return *this;
  }
};
}  // namespace pybind11
namespace py = pybind11;

/// A tensor as the captive process passes it.
struct KwTensorArgument {
  void* data;
  int64_t type, rank, sizes[8];
  at::Tensor tensor() const {
    return {data, static_cast<at::ScalarType>(type), std::vector<int64_t>(sizes, sizes + rank)};
  }
};
inline void kw_give(int index, const at::Tensor& one) {
  kw_record_result(index, one.data_ptr(), one.nbytes());
}
#define KW_TORCH 1
