//! kernelwright 1
//! task    log_softmax
//! input   x: bf16[R, C]
//! output  y: bf16[R, C]
//! when    true
//! launch  log_softmax grid(R) block(128) args(x, y, C)
#include <cuda_bf16.h>

template <bool kMax>
__device__ float all_reduce(float v, float* slots) {
  for (int step = 16; step > 0; step /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, v, step);
    v = kMax ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  v = slots[0];
  for (int w = 1; w < 4; ++w) v = kMax ? fmaxf(v, slots[w]) : v + slots[w];
  return v;
}

__global__ void log_softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  __shared__ float slots[4];
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * cols;
  float top = -3.0e38f;
  for (int c = threadIdx.x; c < cols; c += 128) top = fmaxf(top, __bfloat162float(in[c]));
  top = all_reduce<true>(top, slots);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 128) sum += expf(__bfloat162float(in[c]) - top);
  float shift = top + logf(all_reduce<false>(sum, slots));
  for (int c = threadIdx.x; c < cols; c += 128) {
    y[(size_t)blockIdx.x * cols + c] = __float2bfloat16_rn(__bfloat162float(in[c]) - shift);
  }
}
