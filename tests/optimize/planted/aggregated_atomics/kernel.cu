// A warp counts by votes and adds once per bin; without it every lane adds by itself.
//! kernelwright 1
//! task    aggregated_atomics
//! input   x: int32[N]
//! output  counts: int32[4]
//! tune    VOTES in 1, 0
//! method  latency.warp_aggregated_atomics when VOTES == 1, off VOTES=0
//! launch  clear grid(1) block(4) args(counts)
//! launch  count grid(ceil_div(N, 256)) block(256) args(x, counts, N)

__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }

__global__ void count(const int* x, int* counts, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  const int bin = i < n ? x[i] : -1;
#if VOTES
  for (int b = 0; b < 4; ++b) {
    const unsigned int lanes = __ballot_sync(0xffffffffu, bin == b);
    if (threadIdx.x % 32 == 0 && lanes != 0) atomicAdd(counts + b, __popc(lanes));
  }
#else
  if (bin >= 0) atomicAdd(counts + bin, 1);
#endif
}
