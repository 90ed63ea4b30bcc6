//! kernelwright 1
//! task    histogram
//! input   x: uint8[N]
//! output  bins: int32[256]
//! when    true
//! launch  histogram grid(1) block(128) args(x, bins, N)
//? dims N=500

// Bug: only the first half of the bins is cleared.
__global__ void histogram(const unsigned char* x, int* bins, int n) {
  __shared__ int local[256];
  for (int k = threadIdx.x; k < 128; k += blockDim.x) local[k] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&local[x[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    bins[k] = local[k];  //~ uninitialised-use
  }
}
