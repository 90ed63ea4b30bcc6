// Everything that stands in for PyTorch's headers while an extension is recorded, under all the
// names by which they are included.
#pragma once

#include <kw_bindings.cuh>

namespace at {
inline TensorOptions dtype(ScalarType type) { return {type}; }
inline TensorOptions device(Device place) { return {place}; }
inline TensorOptions layout(Layout) { return {}; }
inline TensorOptions requires_grad(bool = true) { return {}; }
}  // namespace at

namespace torch {
using namespace at;
using c10::Error;
using c10::make_optional;
using c10::nullopt;
using c10::optional;
using Dtype = ScalarType;
using Library = KwLibrary;
struct NoGradGuard {};
template <typename Callable>
Callable wrap_pybind_function(Callable callable) {
  return callable;
}
namespace cuda {
using namespace at::cuda;
inline void synchronize(int64_t = 0) { cudaDeviceSynchronize(); }
}  // namespace cuda
enum class DispatchKey : int { CUDA, CPU, CompositeImplicitAutograd };
}  // namespace torch
namespace at {
struct NoGradGuard {};
struct AutoDispatchBelowADInplaceOrView {};
}  // namespace at
namespace c10 {
using torch::DispatchKey;
struct InferenceMode {
  explicit InferenceMode(bool = true) {}
};
}  // namespace c10

/// A tensor as the captive process passes it.
struct KwTensorArgument {
  void* data;
  int64_t type, rank, sizes[8];
  at::Tensor tensor() const {
    const auto kind = static_cast<at::ScalarType>(type);
    const std::vector<int64_t> extents(sizes, sizes + rank);
    auto storage = std::make_shared<at::KwStorage>();
    storage->base = data;
    storage->bytes = c10::elementSize(kind);
    for (const int64_t extent : extents) storage->bytes *= extent;
    return {storage, 0, kind, extents, at::kw_dense(extents)};
  }
};
inline void kw_give(int index, const at::Tensor& one) {
  if (!one.is_contiguous()) kw_record_refuse("its result is not contiguous");
  kw_record_result(index, one.data_ptr(), one.nbytes());
}
#define KW_TORCH 1
