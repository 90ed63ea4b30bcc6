//! kernelwright 1
//! task    argmax
//! input   x: fp32[R, C]
//! output  value: fp32[R]
//! output  index: int64[R]
//! tune    THREADS in 128, 32
//! when    true
//! launch  argmax<THREADS> grid(R) block(THREADS) args(x, value, index, C)

// Ties go to the lowest index.
__device__ void take_better(float& best, int& at, float other, int other_at) {
  if (other > best || (other == best && other_at < at)) {
    best = other;
    at = other_at;
  }
}

__device__ void warp_best(float& best, int& at) {
  for (int step = 16; step > 0; step /= 2) {
    float other = __shfl_down_sync(0xffffffffu, best, step);
    int other_at = __shfl_down_sync(0xffffffffu, at, step);
    take_better(best, at, other, other_at);
  }
}

template <int kThreads>
__global__ void argmax(const float* x, float* value, long long* index, int cols) {
  constexpr int kWarps = kThreads / 32;
  __shared__ float bests[kWarps];
  __shared__ int ats[kWarps];
  float best = __int_as_float(0xff800000);
  int at = 0x7fffffff;
  for (int c = threadIdx.x; c < cols; c += kThreads) take_better(best, at, x[(size_t)blockIdx.x * cols + c], c);
  warp_best(best, at);
  if (threadIdx.x % 32 == 0) {
    bests[threadIdx.x / 32] = best;
    ats[threadIdx.x / 32] = at;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    best = threadIdx.x < kWarps ? bests[threadIdx.x] : __int_as_float(0xff800000);
    at = threadIdx.x < kWarps ? ats[threadIdx.x] : 0x7fffffff;
    warp_best(best, at);
    if (threadIdx.x == 0) {
      value[blockIdx.x] = best;
      index[blockIdx.x] = at;
    }
  }
}
