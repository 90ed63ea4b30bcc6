//! kernelwright 1
//! task    small_histogram
//! input   x: int32[N]
//! output  bins: uint32[K]
//! when    K <= 1024
//! launch  clear grid(1) block(K) args(bins)
//! launch  count grid(ceil_div(N, 128)) block(128) args(x, bins, N)

// Lanes that hold the same key elect a leader, which adds for all of them.
__global__ void clear(unsigned* bins) { bins[threadIdx.x] = 0; }

__global__ void count(const int* x, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  int key = x[i];
  unsigned same = __match_any_sync(active, key);
  if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&bins[key], (unsigned)__popc(same));
}
