// Kernels behind templates and namespaces, named by expressions as the compiler driver appends
// them.
namespace inner {
template <int kScale, typename T>
__global__ void __launch_bounds__(kScale) scale(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * kScale;
}
}  // namespace inner
__global__ void plain(float* y) { y[threadIdx.x] = 1.0f; }
enum class Mode { A, B };
template <Mode kMode, bool kFlag, typename T = double>
__global__ void chosen(T* y) {
  y[threadIdx.x] = kMode == Mode::B && kFlag ? T(1) : T(0);
}
__device__ __attribute__((used)) auto kw_entry_0 = &inner::scale<256, float>;
__device__ __attribute__((used)) auto kw_entry_1 = &plain;
__device__ __attribute__((used)) auto kw_entry_2 = &chosen<Mode::B, true>;
