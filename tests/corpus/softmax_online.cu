//! kernelwright 1
//! task    softmax
//! input   x: fp32[R, C]
//! output  y: fp32[R, C]
//! tune    THREADS in 128, 32
//! when    true
//! launch  softmax<THREADS> grid(R) block(THREADS) shared(8 * (THREADS / 32)) args(x, y, C)

// One pass keeps the running maximum and the sum of exponentials relative to it; a second writes the result.
struct Running {
  float max, sum;
};

__device__ Running joined(Running a, Running b) {
  float m = fmaxf(a.max, b.max);
  return {m, a.sum * __expf(a.max - m) + b.sum * __expf(b.max - m)};
}

__device__ Running warp_joined(Running r) {
  for (int step = 16; step > 0; step /= 2) {
    Running other;
    other.max = __shfl_xor_sync(0xffffffffu, r.max, step);
    other.sum = __shfl_xor_sync(0xffffffffu, r.sum, step);
    r = joined(r, other);
  }
  return r;
}

template <int kThreads>
__global__ void softmax(const float* x, float* y, int cols) {
  extern __shared__ Running warps[];
  const float* in = x + (size_t)blockIdx.x * cols;
  Running r = {-3.0e38f, 0.0f};
  for (int c = threadIdx.x; c < cols; c += kThreads) r = joined(r, {in[c], 1.0f});
  r = warp_joined(r);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = r;
  __syncthreads();
  r = warps[0];
  for (int w = 1; w < kThreads / 32; ++w) r = joined(r, warps[w]);
  float scale = 1.0f / r.sum;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    y[(size_t)blockIdx.x * cols + c] = __expf(in[c] - r.max) * scale;
  }
}
