//! kernelwright 1
//! task    sums_by_key
//! input   key: int32[N]
//! output  y: int32[8]
//! when    true
//! launch  sums_by_key grid(1) block(128) args(key, y, N)
//? dims N=256
//? fill key 0..7
//? also missing-syncwarp

// Bug: shared accumulators are updated without atomics.
__global__ void sums_by_key(const int* key, int* y, int n) {
  __shared__ int sums[8];
  if (threadIdx.x < 8) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sums[key[i]] += i;  //~ shared-race
  }
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = sums[threadIdx.x];
}
