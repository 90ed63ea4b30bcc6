//! kernelwright 1
//! task    bucket_counts
//! input   x: int32[N]
//! output  y: int32[16]
//! scratch counts: int32[16] = 0 kept
//! when    true
//! launch  count grid(ceil_div(N, 64)) block(64) args(x, counts, N)
//! launch  publish grid(1) block(16) args(counts, y)
//? dims N=300
//? fill x 0..15

// Mended twin of: all counters but the last are cleared again.
__global__ void count(const int* x, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[x[i]], 1);
}

__global__ void publish(int* counts, int* y) {
  int t = threadIdx.x;
  y[t] = counts[t];
  if (t < 16) counts[t] = 0;
}
