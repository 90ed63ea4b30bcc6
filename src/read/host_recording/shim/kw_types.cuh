// Numbers, types, devices and lists as torch extensions spell them. Arithmetic on single elements is
// here, because kernels use it. This header does not know tensors.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE inline
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_RESTRICT __restrict__
#define C10_WARP_SIZE 32
#define C10_UNUSED [[maybe_unused]]
#ifdef __CUDACC__
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define CUDA_KERNEL_ASSERT(condition) ((condition) ? (void)0 : __trap())
#define KW_BOTH __host__ __device__ inline
#else
#define KW_BOTH inline
#endif

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
  BFloat16 = 15,
  Undefined = 44
};
inline int64_t elementSize(ScalarType type) {
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
inline const char* toString(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return "Byte";
    case ScalarType::Char:
      return "Char";
    case ScalarType::Short:
      return "Short";
    case ScalarType::Int:
      return "Int";
    case ScalarType::Long:
      return "Long";
    case ScalarType::Half:
      return "Half";
    case ScalarType::Float:
      return "Float";
    case ScalarType::Double:
      return "Double";
    case ScalarType::Bool:
      return "Bool";
    case ScalarType::BFloat16:
      return "BFloat16";
    default:
      return "Undefined";
  }
}
inline std::ostream& operator<<(std::ostream& to, ScalarType type) { return to << toString(type); }
inline bool isFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 || type == ScalarType::Float ||
         type == ScalarType::Double;
}
inline bool isIntegralType(ScalarType type, bool with_bool) {
  return !isFloatingType(type) && (with_bool || type != ScalarType::Bool);
}

// A number of two bytes: PyTorch's type, which mixes with float and int and converts to CUDA's.
#define KW_SHORT_FLOAT(Name, Raw, to_raw, from_raw, as_bits, from_bits_of)                        \
  struct alignas(2) Name {                                                                        \
    unsigned short x;                                                                             \
    struct from_bits_t {};                                                                        \
    KW_BOTH static constexpr from_bits_t from_bits() { return {}; }                               \
    Name() = default;                                                                             \
    constexpr KW_BOTH Name(unsigned short bits, from_bits_t) : x(bits) {}                         \
    KW_BOTH Name(float value) : x(as_bits(to_raw(value))) {}                                      \
    KW_BOTH Name(const Raw& value) : x(as_bits(value)) {}                                         \
    KW_BOTH operator float() const { return from_raw(from_bits_of(x)); }                          \
    KW_BOTH operator Raw() const { return from_bits_of(x); }                                      \
  };                                                                                              \
  KW_BOTH Name operator-(const Name& a) { return -static_cast<float>(a); }                        \
  KW_SHORT_OPERATOR(Name, +)                                                                      \
  KW_SHORT_OPERATOR(Name, -)                                                                      \
  KW_SHORT_OPERATOR(Name, *)                                                                      \
  KW_SHORT_OPERATOR(Name, /)                                                                      \
  KW_SHORT_COMPARISON(Name, <)                                                                    \
  KW_SHORT_COMPARISON(Name, >)                                                                    \
  KW_SHORT_COMPARISON(Name, <=)                                                                   \
  KW_SHORT_COMPARISON(Name, >=)                                                                   \
  KW_SHORT_COMPARISON(Name, ==)                                                                   \
  KW_SHORT_COMPARISON(Name, !=)
#define KW_SHORT_OPERATOR(Name, op)                                                               \
  KW_BOTH Name operator op(const Name& a, const Name& b) {                                        \
    return static_cast<float>(a) op static_cast<float>(b);                                        \
  }                                                                                               \
  KW_BOTH Name& operator op##=(Name& a, const Name& b) { return a = a op b; }                     \
  KW_BOTH float operator op(Name a, float b) { return static_cast<float>(a) op b; }               \
  KW_BOTH float operator op(float a, Name b) { return a op static_cast<float>(b); }               \
  KW_BOTH float& operator op##=(float& a, const Name& b) { return a = a op b; }                   \
  KW_BOTH double operator op(Name a, double b) { return static_cast<double>(static_cast<float>(a)) op b; } \
  KW_BOTH double operator op(double a, Name b) { return a op static_cast<double>(static_cast<float>(b)); } \
  KW_BOTH Name operator op(Name a, int b) { return a op Name(static_cast<float>(b)); }            \
  KW_BOTH Name operator op(int a, Name b) { return Name(static_cast<float>(a)) op b; }            \
  KW_BOTH Name operator op(Name a, int64_t b) { return a op Name(static_cast<float>(b)); }        \
  KW_BOTH Name operator op(int64_t a, Name b) { return Name(static_cast<float>(a)) op b; }
#define KW_SHORT_COMPARISON(Name, op) \
  KW_BOTH bool operator op(const Name& a, const Name& b) { return static_cast<float>(a) op static_cast<float>(b); }
KW_SHORT_FLOAT(Half, __half, __float2half, __half2float, __half_as_ushort, __ushort_as_half)
KW_SHORT_FLOAT(BFloat16, __nv_bfloat16, __float2bfloat16, __bfloat162float, __bfloat16_as_ushort,
               __ushort_as_bfloat16)

/// The C++ type of each scalar type, and the reverse.
template <ScalarType>
struct KwCppType;
template <typename T>
struct KwScalarType {
  static constexpr ScalarType value = ScalarType::Undefined;
};
#define KW_TYPES(each)                                                                        \
  each(Byte, uint8_t) each(Char, int8_t) each(Short, int16_t) each(Int, int) each(Long, int64_t) \
      each(Half, ::c10::Half) each(Float, float) each(Double, double) each(Bool, bool)            \
          each(BFloat16, ::c10::BFloat16)
#define KW_TYPE_BOTH_WAYS(Name, spelled)                     \
  template <>                                                \
  struct KwCppType<ScalarType::Name> {                       \
    using type = spelled;                                    \
  };                                                         \
  template <>                                                \
  struct KwScalarType<spelled> {                             \
    static constexpr ScalarType value = ScalarType::Name;    \
  };
KW_TYPES(KW_TYPE_BOTH_WAYS)
template <>
struct KwScalarType<__half> {
  static constexpr ScalarType value = ScalarType::Half;
};
template <>
struct KwScalarType<__nv_bfloat16> {
  static constexpr ScalarType value = ScalarType::BFloat16;
};
template <>
struct KwScalarType<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};
template <typename T>
struct CppTypeToScalarType : KwScalarType<T> {};
namespace impl {
template <ScalarType kType>
using ScalarTypeToCPPTypeT = typename KwCppType<kType>::type;
}

enum class DeviceType : int { CPU, CUDA };
constexpr DeviceType kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
using DeviceIndex = int8_t;
struct Device {
  DeviceType kind = DeviceType::CUDA;
  int number = 0;
  Device() = default;
  Device(DeviceType type, int index = 0) : kind(type), number(index < 0 ? 0 : index) {}
  Device(const std::string& name) : kind(name.rfind("cuda", 0) == 0 ? kCUDA : kCPU) {}
  Device(const char* name) : Device(std::string(name)) {}
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  bool is_cpu() const { return kind == DeviceType::CPU; }
  DeviceType type() const { return kind; }
  int index() const { return number; }
  bool has_index() const { return true; }
  std::string str() const { return is_cuda() ? "cuda:0" : "cpu"; }
  bool operator==(const Device& other) const { return kind == other.kind; }
  bool operator!=(const Device& other) const { return kind != other.kind; }
};
inline std::ostream& operator<<(std::ostream& to, const Device& device) { return to << device.str(); }
inline std::ostream& operator<<(std::ostream& to, DeviceType type) { return to << Device(type).str(); }

enum class MemoryFormat : int { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum class Layout : int { Strided };

/// A list that owns its elements, so that their source need not outlive it.
template <typename T>
struct ArrayRef {
  std::vector<T> values;
  ArrayRef() = default;
  ArrayRef(std::initializer_list<T> list) : values(list) {}
  ArrayRef(std::vector<T> list) : values(std::move(list)) {}
  ArrayRef(const T& one) : values{one} {}
  ArrayRef(const T* first, size_t count) : values(first, first + count) {}
  ArrayRef(const T* first, const T* last) : values(first, last) {}
  template <size_t kCount>
  ArrayRef(const std::array<T, kCount>& list) : values(list.begin(), list.end()) {}
  size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  const T* data() const { return values.data(); }
  const T& operator[](size_t i) const { return values[i]; }
  const T& at(size_t i) const { return values.at(i); }
  const T& front() const { return values.front(); }
  const T& back() const { return values.back(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
  std::vector<T> vec() const { return values; }
  ArrayRef slice(size_t first, size_t count) const { return {values.data() + first, count}; }
  ArrayRef slice(size_t first) const { return slice(first, size() - first); }
  bool equals(const ArrayRef& other) const { return values == other.values; }
  bool operator==(const ArrayRef& other) const { return values == other.values; }
  bool operator!=(const ArrayRef& other) const { return values != other.values; }
};
using IntArrayRef = ArrayRef<int64_t>;
template <typename T>
std::ostream& operator<<(std::ostream& to, const ArrayRef<T>& list) {
  to << "[";
  for (size_t i = 0; i < list.size(); ++i) to << (i == 0 ? "" : ", ") << list[i];
  return to << "]";
}

template <typename T>
using optional = std::optional<T>;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::string_view;

struct Error : std::exception {
  std::string text;
  explicit Error(std::string why) : text(std::move(why)) {}
  const char* what() const noexcept override { return text.c_str(); }
};
template <typename... Args>
std::string str(const Args&... args) {
  std::ostringstream text;
  (void)(text << ... << args);
  return text.str();
}
[[noreturn]] inline void kw_fail(const std::string& why) { throw Error(why.empty() ? "one of its own checks fails" : why); }

}  // namespace c10

namespace std {
#define KW_SHORT_LIMITS(Name, most, least, small, step)                                              \
  template <>                                                                                        \
  class numeric_limits<c10::Name> : public numeric_limits<float> {                                   \
   public:                                                                                           \
    static constexpr KW_BOTH c10::Name bits(unsigned short b) { return {b, c10::Name::from_bits()}; } \
    static constexpr KW_BOTH c10::Name max() { return bits(most); }                                  \
    static constexpr KW_BOTH c10::Name lowest() { return bits(least); }                              \
    static constexpr KW_BOTH c10::Name min() { return bits(small); }                                 \
    static constexpr KW_BOTH c10::Name epsilon() { return bits(step); }                              \
    static constexpr KW_BOTH c10::Name infinity() { return bits(small == 0x400 ? 0x7c00 : 0x7f80); } \
    static constexpr KW_BOTH c10::Name quiet_NaN() { return bits(small == 0x400 ? 0x7e00 : 0x7fc0); } \
  };
KW_SHORT_LIMITS(Half, 0x7bff, 0xfbff, 0x400, 0x1400)
KW_SHORT_LIMITS(BFloat16, 0x7f7f, 0xff7f, 0x80, 0x3c00)
}  // namespace std

#ifdef __CUDACC__
__device__ inline c10::Half __ldg(const c10::Half* from) {
  return {__ldg(reinterpret_cast<const unsigned short*>(from)), c10::Half::from_bits()};
}
__device__ inline c10::BFloat16 __ldg(const c10::BFloat16* from) {
  return {__ldg(reinterpret_cast<const unsigned short*>(from)), c10::BFloat16::from_bits()};
}
#endif

#define TORCH_CHECK(condition, ...) ((condition) ? (void)0 : ::c10::kw_fail(::c10::str(__VA_ARGS__)))
#define TORCH_CHECK_EQ(a, b, ...) TORCH_CHECK((a) == (b), ##__VA_ARGS__)
#define TORCH_CHECK_NE(a, b, ...) TORCH_CHECK((a) != (b), ##__VA_ARGS__)
#define TORCH_CHECK_LT(a, b, ...) TORCH_CHECK((a) < (b), ##__VA_ARGS__)
#define TORCH_CHECK_LE(a, b, ...) TORCH_CHECK((a) <= (b), ##__VA_ARGS__)
#define TORCH_CHECK_GT(a, b, ...) TORCH_CHECK((a) > (b), ##__VA_ARGS__)
#define TORCH_CHECK_GE(a, b, ...) TORCH_CHECK((a) >= (b), ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) ::c10::kw_fail(::c10::str(__VA_ARGS__))
#define C10_THROW_ERROR(kind, text) ::c10::kw_fail(text)
#define C10_CUDA_CHECK(code) \
  do { \
    const cudaError_t kw_code = (code); \
    TORCH_CHECK(kw_code == cudaSuccess, "CUDA error: ", cudaGetErrorString(kw_code)); \
  } while (false)
#define C10_CUDA_CHECK_WARN(code) ((void)(code))
#define C10_CUDA_ERROR_HANDLED(code) (code)
#define AT_CUDA_CHECK(code) C10_CUDA_CHECK(code)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
