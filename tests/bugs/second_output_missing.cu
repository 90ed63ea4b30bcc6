//! kernelwright 1
//! task    min_and_max
//! input   x: fp32[R, 32]
//! output  low: fp32[R]
//! output  high: fp32[R]
//! when    true
//! launch  min_and_max grid(R) block(32) args(x, low, high)
//? dims R=5
//? expect output-not-written

// Bug: of the two results only one block writes the second.
__global__ void min_and_max(const float* x, float* low, float* high) {
  float a = x[blockIdx.x * 32 + threadIdx.x], b = a;
  for (int step = 16; step > 0; step /= 2) {
    a = fminf(a, __shfl_xor_sync(0xffffffffu, a, step));
    b = fmaxf(b, __shfl_xor_sync(0xffffffffu, b, step));
  }
  if (threadIdx.x == 0) low[blockIdx.x] = a;
  if (threadIdx.x + blockIdx.x == 0) high[blockIdx.x] = b;
}
