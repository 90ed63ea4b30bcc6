// Tensors as kernels take them by value: a pointer, sizes and strides.
#pragma once

#include <kw_types.cuh>

namespace at {

template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  KW_BOTH TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  KW_BOTH auto operator[](Index i) const -> std::conditional_t<kRank == 1, T&, TensorAccessor<T, kRank == 1 ? 1 : kRank - 1, Traits, Index>> {
    if constexpr (kRank == 1)
      return data_[strides_[0] * i];
    else
      return {data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
  }
  KW_BOTH Index size(Index i) const { return sizes_[i]; }
  KW_BOTH Index stride(Index i) const { return strides_[i]; }
  KW_BOTH PtrType data() const { return data_; }

 private:
  PtrType data_;
  const Index *sizes_, *strides_;
};

template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  GenericPackedTensorAccessor(PtrType data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t i = 0; i < kRank; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  KW_BOTH auto operator[](Index i) const -> std::conditional_t<kRank == 1, T&, TensorAccessor<T, kRank == 1 ? 1 : kRank - 1, Traits, Index>> {
    if constexpr (kRank == 1)
      return data_[strides_[0] * i];
    else
      return {data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
  }
  KW_BOTH Index size(Index i) const { return sizes_[i]; }
  KW_BOTH Index stride(Index i) const { return strides_[i]; }
  KW_BOTH PtrType data() const { return data_; }

 private:
  PtrType data_;
  Index sizes_[kRank], strides_[kRank];
};
template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, kRank, Traits, int32_t>;
template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, kRank, Traits, int64_t>;
template <typename T, size_t kRank, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, kRank, Traits, Index>;

}  // namespace at
