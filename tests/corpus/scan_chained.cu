//! kernelwright 1
//! task    chained_cumsum
//! input   x: fp64[N]
//! output  y: fp64[N]
//! let     tiles = ceil_div(N, 64)
//! scratch total: fp64[tiles]
//! scratch ready: int32[tiles] = 0
//! when    true
//! launch  chained_cumsum grid(tiles) block(64) args(x, y, total, ready, N)

// Each block waits for its left neighbour's total, published with release and read with acquire.
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

__global__ void chained_cumsum(const double* x, double* y, double* total, int* ready, int n) {
  __shared__ double sums[64];
  __shared__ double before;
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  sums[t] = i < n ? x[i] : 0.0;
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    double left = t >= step ? sums[t - step] : 0.0;
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    double carry = 0.0;
    if (blockIdx.x > 0) {
      while (load_acquire(&ready[blockIdx.x - 1]) == 0) __nanosleep(20);
      carry = total[blockIdx.x - 1];
    }
    total[blockIdx.x] = carry + sums[63];
    store_release(&ready[blockIdx.x], 1);
    before = carry;
  }
  __syncthreads();
  if (i < n) y[i] = sums[t] + before;
}
