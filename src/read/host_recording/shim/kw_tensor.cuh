// Tensors of a torch extension while it is recorded: an address with a type, sizes and strides, and
// memory. They can be created, viewed, filled with one number and copied. A function that would need
// PyTorch's own kernels is refused by name if it computes numbers; any other does not compile, which
// is intended.
#pragma once

#include <kw_accessor.cuh>

extern "C" void kw_record_result(int index, const void* data, unsigned long bytes);
extern "C" void kw_record_refuse(const char* why);
extern "C" void kw_record_move(void* to, const void* from, unsigned element, int rank, const int64_t* sizes,
                               const int64_t* to_steps, const int64_t* from_steps);
extern "C" void kw_record_take_back(uint64_t bytes);
extern "C" void kw_record_fill(void* to, unsigned value, unsigned element, unsigned long bytes);

namespace at {

using c10::ArrayRef;
using c10::BFloat16;
using c10::Device;
using c10::DeviceType;
using c10::Half;
using c10::IntArrayRef;
using c10::kCPU;
using c10::kCUDA;
using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;
using c10::toString;
constexpr Layout kStrided = Layout::Strided;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float,
                     kDouble = ScalarType::Double, kFloat64 = ScalarType::Double,
                     kHalf = ScalarType::Half, kFloat16 = ScalarType::Half,
                     kBFloat16 = ScalarType::BFloat16, kInt = ScalarType::Int,
                     kInt32 = ScalarType::Int, kLong = ScalarType::Long, kInt64 = ScalarType::Long,
                     kShort = ScalarType::Short, kInt16 = ScalarType::Short,
                     kBool = ScalarType::Bool, kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte,
                     kChar = ScalarType::Char, kInt8 = ScalarType::Char;

/// A number of any type.
struct Scalar {
  double real = 0;
  Scalar() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) : real(static_cast<double>(value)) {}
  Scalar(Half value) : real(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : real(static_cast<float>(value)) {}
  template <typename T>
  T to() const {
    return static_cast<T>(real);
  }
  double toDouble() const { return real; }
  float toFloat() const { return static_cast<float>(real); }
  int64_t toLong() const { return static_cast<int64_t>(real); }
  int toInt() const { return static_cast<int>(real); }
};

struct TensorOptions {
  ScalarType type = ScalarType::Float;
  Device place = DeviceType::CPU;
  TensorOptions() = default;
  TensorOptions(ScalarType to) : type(to) {}
  TensorOptions(Device to) : place(to) {}
  TensorOptions(DeviceType to) : place(to) {}
  TensorOptions(ScalarType of, Device on) : type(of), place(on) {}
  TensorOptions dtype(ScalarType to) const { return {to, place}; }
  template <typename T>
  TensorOptions dtype() const {
    return {c10::KwScalarType<T>::value, place};
  }
  TensorOptions device(Device to) const { return {type, to}; }
  TensorOptions device(DeviceType to, int = 0) const { return {type, to}; }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  Device device() const { return place; }
  ScalarType dtype() const { return type; }
};

/// What `x.type()` gave before `x.scalar_type()` did.
struct DeprecatedTypeProperties {
  ScalarType kind;
  bool cuda;
  operator ScalarType() const { return kind; }
  ScalarType scalarType() const { return kind; }
  bool is_cuda() const { return cuda; }
};

struct KwStorage {
  void* base = nullptr;
  int64_t bytes = 0;
  Device place;
  uint64_t made = 0;  // bytes that were allocated for it
  ~KwStorage() {
    if (made > 0) kw_record_take_back(made);
  }
};

inline std::vector<int64_t> kw_dense(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return strides;
}

class Tensor {
 public:
  Tensor() = default;
  Tensor(std::shared_ptr<KwStorage> storage, int64_t offset, ScalarType type, std::vector<int64_t> sizes,
         std::vector<int64_t> strides)
      : storage_(std::move(storage)),
        offset_(offset),
        type_(type),
        sizes_(std::move(sizes)),
        strides_(std::move(strides)) {}

  bool defined() const { return storage_ != nullptr; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t i) const { return sizes_[axis(i)]; }
  int64_t sym_size(int64_t i) const { return size(i); }
  IntArrayRef sizes() const { return sizes_; }
  int64_t stride(int64_t i) const { return strides_[axis(i)]; }
  IntArrayRef strides() const { return strides_; }
  int64_t storage_offset() const { return offset_; }
  int64_t numel() const {
    int64_t count = 1;
    for (const int64_t extent : sizes_) count *= extent;
    return count;
  }
  int64_t element_size() const { return c10::elementSize(type_); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel() * element_size()); }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  DeprecatedTypeProperties type() const { return {type_, is_cuda()}; }
  Device device() const { return storage_ ? storage_->place : Device(); }
  int64_t get_device() const { return device().is_cuda() ? 0 : -1; }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_floating_point() const { return c10::isFloatingType(type_); }
  bool is_sparse() const { return false; }
  bool requires_grad() const { return false; }
  Layout layout() const { return kStrided; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    std::vector<int64_t> order(sizes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    const bool last = format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
    if (last && dim() > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    int64_t step = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const auto k = static_cast<size_t>(order[i]);
      if (sizes_[k] != 1 && strides_[k] != step) return numel() == 0;
      step *= sizes_[k];
    }
    return true;
  }
  bool is_non_overlapping_and_dense() const { return is_contiguous(); }
  bool is_same(const Tensor& other) const { return storage_ == other.storage_ && offset_ == other.offset_; }
  TensorOptions options() const { return {type_, device()}; }

  void* data_ptr() const {
    return storage_ ? static_cast<char*>(storage_->base) + offset_ * element_size() : nullptr;
  }
  template <typename T>
  T* data_ptr() const {
    using Element = std::remove_const_t<T>;
    TORCH_CHECK(std::is_void_v<Element> || c10::KwScalarType<Element>::value == ScalarType::Undefined ||
                    c10::KwScalarType<Element>::value == type_,
                "expected scalar type ", c10::KwScalarType<Element>::value, " but found ", type_);
    return static_cast<T*>(data_ptr());
  }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <typename T>
  T* data() const {
    return data_ptr<T>();
  }
  template <typename T>
  const std::remove_const_t<T>* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <typename T, size_t kRank>
  TensorAccessor<T, kRank> accessor() const {
    TORCH_CHECK(is_cpu(), "the host reads elements of a tensor on the device");
    return {data_ptr<T>(), sizes_.data(), strides_.data()};
  }
  template <typename T, size_t kRank, template <typename> class Traits, typename Index>
  GenericPackedTensorAccessor<T, kRank, Traits, Index> kw_packed() const {
    TORCH_CHECK(static_cast<size_t>(dim()) == kRank, "an accessor of ", kRank, " dims for a tensor of ", dim());
    return {data_ptr<T>(), sizes_.data(), strides_.data()};
  }
  template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits>
  auto packed_accessor32() const {
    return kw_packed<T, kRank, Traits, int32_t>();
  }
  template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits>
  auto packed_accessor64() const {
    return kw_packed<T, kRank, Traits, int64_t>();
  }
  template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
  auto packed_accessor() const {
    return kw_packed<T, kRank, Traits, Index>();
  }
  template <typename T>
  T item() const {
    T value{};
    cudaMemcpy(&value, data_ptr(), sizeof(T), is_cuda() ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
    return value;
  }

  // Views: the same memory with other sizes, strides or types.
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, std::optional<int64_t> offset = {}) const {
    return {storage_, offset.value_or(offset_), type_, sizes.values, strides.values};
  }
  Tensor detach() const { return *this; }
  Tensor alias() const { return *this; }
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    if (is_contiguous(format)) return *this;
    if (format != MemoryFormat::Contiguous) kw_record_refuse("it calls aten::contiguous for another order of dims");
    return clone();
  }
  Tensor view(IntArrayRef sizes) const {
    std::vector<int64_t> all = sizes.values;
    int64_t known = 1;
    for (const int64_t extent : all) known *= extent < 0 ? 1 : extent;
    for (int64_t& extent : all) extent = extent < 0 && known != 0 ? numel() / known : extent;
    int64_t count = 1;
    for (const int64_t extent : all) count *= extent;
    TORCH_CHECK(count == numel(), "a view of ", count, " elements of a tensor of ", numel());
    TORCH_CHECK(is_contiguous(), "a view of strided memory; call reshape");
    return {storage_, offset_, type_, all, kw_dense(all)};
  }
  /// The same bytes as numbers of another type.
  Tensor view(ScalarType type) const {
    const int64_t had = element_size(), has = c10::elementSize(type);
    TORCH_CHECK(had == has || (dim() > 0 && is_contiguous() && size(-1) * had % has == 0), "a view as numbers of another size");
    std::vector<int64_t> all = sizes_;
    if (had != has) all.back() = all.back() * had / has;
    return {storage_, offset_ * had / has, type, all, had == has ? strides_ : kw_dense(all)};
  }
  Tensor reshape(IntArrayRef sizes) const { return contiguous().view(std::move(sizes)); }
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor flatten(int64_t first = 0, int64_t last = -1) const {
    if (dim() == 0) return view({1});
    const size_t from = axis(first), to = axis(last);
    std::vector<int64_t> all(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(from));
    int64_t count = 1;
    for (size_t i = from; i <= to; ++i) count *= sizes_[i];
    all.push_back(count);
    all.insert(all.end(), sizes_.begin() + static_cast<std::ptrdiff_t>(to) + 1, sizes_.end());
    return reshape(all);
  }
  Tensor unsqueeze(int64_t at) const {
    Tensor out = *this;
    const int64_t k = at < 0 ? at + dim() + 1 : at;
    TORCH_CHECK(k >= 0 && k <= dim(), "there is no dim ", at);
    out.strides_.insert(out.strides_.begin() + k, k < dim() ? sizes_[k] * strides_[k] : 1);
    out.sizes_.insert(out.sizes_.begin() + k, 1);
    return out;
  }
  Tensor squeeze(int64_t at) const {
    Tensor out = *this;
    const auto k = static_cast<std::ptrdiff_t>(axis(at));
    if (sizes_[static_cast<size_t>(k)] != 1) return out;
    out.sizes_.erase(out.sizes_.begin() + k);
    out.strides_.erase(out.strides_.begin() + k);
    return out;
  }
  Tensor squeeze() const {
    Tensor out = *this;
    for (int64_t i = dim(); i-- > 0;) out = out.squeeze(i);
    return out;
  }
  Tensor permute(IntArrayRef order) const {
    TORCH_CHECK(order.size() == sizes_.size(), "a permutation of ", order.size(), " dims");
    Tensor out = *this;
    for (size_t i = 0; i < order.size(); ++i) {
      out.sizes_[i] = sizes_[axis(order[i])];
      out.strides_[i] = strides_[axis(order[i])];
    }
    return out;
  }
  Tensor transpose(int64_t a, int64_t b) const {
    Tensor out = *this;
    std::swap(out.sizes_[axis(a)], out.sizes_[axis(b)]);
    std::swap(out.strides_[axis(a)], out.strides_[axis(b)]);
    return out;
  }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  Tensor expand(IntArrayRef sizes) const {
    std::vector<int64_t> all = sizes.values, strides(all.size(), 0);
    TORCH_CHECK(all.size() >= sizes_.size(), "an expansion to fewer dims");
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const size_t k = all.size() - sizes_.size() + i;
      TORCH_CHECK(all[k] == -1 || all[k] == sizes_[i] || sizes_[i] == 1, "sizes that do not expand");
      strides[k] = sizes_[i] == 1 && all[k] != 1 && all[k] != -1 ? 0 : strides_[i];
      if (all[k] == -1) all[k] = sizes_[i];
    }
    return {storage_, offset_, type_, all, strides};
  }
  Tensor narrow(int64_t at, int64_t start, int64_t length) const {
    TORCH_CHECK(start >= 0 && length >= 0 && start + length <= size(at), "a part that is not there");
    Tensor out = *this;
    out.offset_ += start * stride(at);
    out.sizes_[axis(at)] = length;
    return out;
  }
  Tensor slice(int64_t at = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) const {
    const int64_t extent = size(at);
    const auto inside = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + extent : i, 0, extent); };
    const int64_t from = inside(start.value_or(0)), to = std::max(from, inside(end.value_or(extent)));
    Tensor out = narrow(at, from, to - from);
    out.sizes_[axis(at)] = (to - from + step - 1) / step;
    out.strides_[axis(at)] *= step;
    return out;
  }
  Tensor select(int64_t at, int64_t index) const {
    Tensor out = narrow(at, index < 0 ? index + size(at) : index, 1);
    return out.squeeze(at);
  }
  Tensor operator[](int64_t index) const { return select(0, index); }
  std::vector<Tensor> split(int64_t each, int64_t at = 0) const {
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < size(at); i += each) parts.push_back(narrow(at, i, std::min(each, size(at) - i)));
    return parts;
  }
  std::vector<Tensor> chunk(int64_t count, int64_t at = 0) const { return split((size(at) + count - 1) / count, at); }
  std::vector<Tensor> unbind(int64_t at = 0) const {
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < size(at); ++i) parts.push_back(select(at, i));
    return parts;
  }

  // Memory.
  Tensor& zero_() { return fill_(0); }
  const Tensor& zero_() const {
    const_cast<Tensor*>(this)->zero_();
    return *this;
  }
  Tensor& fill_(const Scalar& value);
  Tensor& copy_(const Tensor& from, bool = false);
  Tensor clone(std::optional<MemoryFormat> = {}) const {
    Tensor out = kw_same_sizes();
    out.copy_(*this);
    return out;
  }
  Tensor to(Device place, bool = false) const;
  Tensor to(DeviceType place, bool = false) const { return to(Device(place)); }
  Tensor to(ScalarType type, bool = false, bool = false) const;
  Tensor to(Device place, ScalarType type, bool = false, bool = false) const { return to(place).to(type); }
  Tensor to(const TensorOptions& options, bool = false, bool = false) const { return to(options.place).to(options.type); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor new_empty(IntArrayRef sizes) const;
  Tensor new_empty(IntArrayRef sizes, TensorOptions options) const;
  Tensor new_zeros(IntArrayRef sizes) const;
  Tensor new_zeros(IntArrayRef sizes, TensorOptions options) const;
  const std::shared_ptr<KwStorage>& kw_storage() const { return storage_; }

 private:
  size_t axis(int64_t i) const {
    TORCH_CHECK(i >= -dim() && i < dim(), "there is no dim ", i, " in a tensor of ", dim());
    return static_cast<size_t>(i < 0 ? i + dim() : i);
  }
  Tensor kw_same_sizes() const;

  std::shared_ptr<KwStorage> storage_;
  int64_t offset_ = 0;  // in elements
  ScalarType type_ = ScalarType::Float;
  std::vector<int64_t> sizes_, strides_;
};
using TensorList = ArrayRef<Tensor>;

inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {}) {
  auto storage = std::make_shared<KwStorage>();
  int64_t last = 1;
  bool none = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TORCH_CHECK(sizes[i] >= 0, "a size below 0");
    none = none || sizes[i] == 0;
    last += (sizes[i] - 1) * strides[i];
  }
  storage->bytes = none ? 0 : last * c10::elementSize(options.type);
  storage->place = options.place;
  const size_t room = storage->bytes > 0 ? static_cast<size_t>(storage->bytes) : 1;
  C10_CUDA_CHECK(options.place.is_cuda() ? cudaMalloc(&storage->base, room) : cudaMallocHost(&storage->base, room));
  if (options.place.is_cuda()) storage->made = room;
  return {storage, 0, options.type, sizes.values, strides.values};
}
inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}, std::optional<MemoryFormat> = {}) {
  return empty_strided(sizes, kw_dense(sizes.values), options);
}
inline Tensor empty_like(const Tensor& other, TensorOptions options, std::optional<MemoryFormat> = {}) {
  const Tensor dense = empty(other.sizes(), options);
  // As PyTorch does: what is dense keeps its order of dims.
  std::vector<int64_t> strides = other.strides().values;
  std::vector<size_t> order(strides.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(1, other.sizes()[order[i]]);
  }
  return other.is_contiguous() ? dense : dense.as_strided(other.sizes(), strides);
}
inline Tensor empty_like(const Tensor& other, std::optional<MemoryFormat> = {}) {
  return empty_like(other, other.options());
}
inline Tensor full(IntArrayRef sizes, const Scalar& value, TensorOptions options = {}) {
  Tensor made = empty(std::move(sizes), options);
  made.fill_(value);
  return made;
}
inline Tensor full_like(const Tensor& other, const Scalar& value) { return empty_like(other).fill_(value); }
inline Tensor full_like(const Tensor& other, const Scalar& value, TensorOptions options) { return empty_like(other, options).fill_(value); }
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) { return full(std::move(sizes), 0, options); }
inline Tensor ones(IntArrayRef sizes, TensorOptions options = {}) { return full(std::move(sizes), 1, options); }
inline Tensor zeros_like(const Tensor& other) { return full_like(other, 0); }
inline Tensor zeros_like(const Tensor& other, TensorOptions options) { return full_like(other, 0, options); }
inline Tensor ones_like(const Tensor& other) { return full_like(other, 1); }
inline Tensor ones_like(const Tensor& other, TensorOptions options) { return full_like(other, 1, options); }
template <typename T>
Tensor tensor(const std::vector<T>& values, TensorOptions options = {c10::KwScalarType<T>::value}) {
  TORCH_CHECK(options.type == c10::KwScalarType<T>::value, "numbers of one type for a tensor of another");
  Tensor made = empty({static_cast<int64_t>(values.size())}, TensorOptions(options.type));
  std::copy(values.begin(), values.end(), made.data_ptr<T>());
  return made.to(options.place);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, TensorOptions options = {c10::KwScalarType<T>::value}) {
  return tensor(std::vector<T>(values), options);
}

inline Tensor Tensor::kw_same_sizes() const { return empty(sizes(), options()); }
inline Tensor Tensor::new_empty(IntArrayRef sizes) const { return empty(std::move(sizes), options()); }
inline Tensor Tensor::new_empty(IntArrayRef sizes, TensorOptions options) const { return empty(std::move(sizes), options); }
inline Tensor Tensor::new_zeros(IntArrayRef sizes) const { return zeros(std::move(sizes), options()); }
inline Tensor Tensor::new_zeros(IntArrayRef sizes, TensorOptions options) const { return zeros(std::move(sizes), options); }

inline Tensor& Tensor::fill_(const Scalar& value) {
  if (numel() == 0) return *this;
  uint64_t bits = 0;
  const auto put = [&](auto number) { std::memcpy(&bits, &number, sizeof(number)); };
  switch (type_) {
#define KW_FILL_CASE(Name, spelled) \
  case ScalarType::Name:            \
    put(static_cast<spelled>(static_cast<std::conditional_t<std::is_integral_v<spelled>, int64_t, std::conditional_t<std::is_same_v<spelled, double>, double, float>>>(value.real))); \
    break;
    KW_TYPES(KW_FILL_CASE)
    default:
      break;
  }
  if (!is_contiguous()) kw_record_refuse("it calls aten::fill_ of strided memory, which is not a kernel of the file");
  unsigned element = static_cast<unsigned>(element_size());
  if (element == 8) {
    if (bits >> 32 != (bits & 0xffffffffu)) kw_record_refuse("it calls aten::fill_ with a number of eight bytes");
    element = 4;
  }
  if (is_cuda()) {
    kw_record_fill(data_ptr(), static_cast<unsigned>(bits), element, nbytes());
  } else {
    for (int64_t i = 0; i < numel(); ++i) std::memcpy(static_cast<char*>(data_ptr()) + i * element_size(), &bits, static_cast<size_t>(element_size()));
  }
  return *this;
}
inline Tensor& Tensor::copy_(const Tensor& source, bool) {
  const Tensor from = source.sizes() == sizes() ? source : source.expand(sizes());
  if (from.type_ != type_) {
    if (numel() > 0)
      kw_record_move(data_ptr(), from.data_ptr(), 256 + 16 * static_cast<unsigned>(from.type_) + static_cast<unsigned>(type_),
                     static_cast<int>(dim()), sizes_.data(), strides_.data(), from.strides_.data());
  } else if (numel() > 0 && is_contiguous() && from.is_contiguous()) {
    cudaMemcpyAsync(data_ptr(), from.data_ptr(), nbytes(), cudaMemcpyDefault, nullptr);
  } else if (numel() > 0) {
    kw_record_move(data_ptr(), from.data_ptr(), static_cast<unsigned>(element_size()), static_cast<int>(dim()), sizes_.data(),
                   strides_.data(), from.strides_.data());
  }
  return *this;
}
inline Tensor Tensor::to(Device place, bool) const {
  if (place == device()) return *this;
  Tensor out = empty(sizes(), TensorOptions(type_, place));
  out.copy_(*this);
  return out;
}
inline Tensor Tensor::to(ScalarType type, bool, bool) const {
  if (type == type_) return *this;
  Tensor out = empty(sizes(), TensorOptions(type, device()));
  out.copy_(*this);
  return out;
}

}  // namespace at
