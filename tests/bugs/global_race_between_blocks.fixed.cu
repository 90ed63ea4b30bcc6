//! kernelwright 1
//! task    histogram
//! input   x: int32[N]
//! output  bins: int32[4]
//! when    true
//! launch  clear grid(1) block(4) args(bins)
//! launch  count grid(ceil_div(N, 32)) block(32) args(x, bins, N)
//? dims N=320
//? fill x 0..3

// Mended twin of: blocks count into global memory without atomics.
__global__ void clear(int* bins) { bins[threadIdx.x] = 0; }

__global__ void count(const int* x, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&bins[x[i]], 1);
  }
}
