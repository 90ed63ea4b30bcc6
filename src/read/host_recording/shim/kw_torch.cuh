// Replaces PyTorch's headers while an extension is recorded, under all the names by which files
// include them.
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

// Functions that compute are PyTorch's kernels, not the file's. The message names the function; a compiler
// would only say that it does not exist.
inline bool kw_refused = false;  // the exception thrown then does not end the process
[[noreturn]] inline void kw_computes(const char* what) {
  const std::string why = std::string("it calls ") + what + ", which is not a kernel of the file";
  kw_record_refuse(why.c_str());
  kw_refused = true;
  c10::kw_fail(why);
}
namespace at {
#define KW_COMPUTES(name)                      \
  template <typename... Args>                  \
  Tensor name(const Tensor&, const Args&...) { \
    kw_computes("at::" #name);                 \
  }
KW_COMPUTES(add)
KW_COMPUTES(addmm)
KW_COMPUTES(amax)
KW_COMPUTES(avg_pool2d)
KW_COMPUTES(batch_norm)
KW_COMPUTES(bmm)
KW_COMPUTES(conv1d)
KW_COMPUTES(conv2d)
KW_COMPUTES(conv3d)
KW_COMPUTES(conv_transpose2d)
KW_COMPUTES(div)
KW_COMPUTES(exp)
KW_COMPUTES(gelu)
KW_COMPUTES(group_norm)
KW_COMPUTES(layer_norm)
KW_COMPUTES(linear)
KW_COMPUTES(log)
KW_COMPUTES(log_softmax)
KW_COMPUTES(matmul)
KW_COMPUTES(max_pool2d)
KW_COMPUTES(mean)
KW_COMPUTES(mm)
KW_COMPUTES(mul)
KW_COMPUTES(relu)
KW_COMPUTES(rsqrt)
KW_COMPUTES(scaled_dot_product_attention)
KW_COMPUTES(sigmoid)
KW_COMPUTES(silu)
KW_COMPUTES(softmax)
KW_COMPUTES(sqrt)
KW_COMPUTES(sub)
KW_COMPUTES(sum)
KW_COMPUTES(tanh)
#undef KW_COMPUTES
#define KW_COMPUTES(symbol)                                                         \
  inline Tensor operator symbol(const Tensor&, const Tensor&) {                     \
    kw_computes("PyTorch's operator " #symbol);                                     \
  }                                                                                 \
  inline Tensor operator symbol(const Tensor&, const Scalar&) {                     \
    kw_computes("PyTorch's operator " #symbol);                                     \
  }                                                                                 \
  inline Tensor operator symbol(const Scalar&, const Tensor&) {                     \
    kw_computes("PyTorch's operator " #symbol);                                     \
  }
KW_COMPUTES(+)
KW_COMPUTES(-)
KW_COMPUTES(*)
KW_COMPUTES(/)
#undef KW_COMPUTES
}  // namespace at

/// A tensor as the recording process passes it.
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
