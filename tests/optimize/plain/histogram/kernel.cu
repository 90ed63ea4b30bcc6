// One thread per element, one atomic addition in global memory each.
//! kernelwright 1
//! task    histogram
//! input   x: int32[N]
//! output  counts: int32[256]
//! tune    THREADS in 256, 128, 512, 1024
//! launch  clear grid(1) block(256) args(counts)
//! launch  count grid(ceil_div(N, THREADS)) block(THREADS) args(x, counts, N)

__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }

__global__ void count(const int* x, int* counts, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  if (i < n) atomicAdd(counts + x[i], 1);
}
