//! kernelwright 1
//! task    histogram
//! input   x: fp32[N]
//! output  bins: int32[16]
//! when    true
//! launch  histogram grid(1) block(64) args(x, bins, N)
//? dims N=300

// Bug: the largest value falls into a bin that does not exist.
__global__ void histogram(const float* x, int* bins, int n) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 64) {
    int bin = x[i] >= 0.0f ? 16 : (int)((x[i] + 4.0f) * 4.0f);
    atomicAdd(&local[bin], 1);  //~ out-of-bounds-shared
  }
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] = local[threadIdx.x];
}
