//! kernelwright 1
//! task    long_cumsum
//! input   x: int32[N]
//! output  y: int32[N]
//! tune    THREADS in 128
//! let     tiles = ceil_div(N, THREADS)
//! scratch state: uint64[tiles] = 0
//! scratch ticket: uint32[1] = 0
//! when    true
//! launch  long_cumsum<THREADS> grid(tiles) block(THREADS) args(x, y, state, ticket, N)

// Decoupled look-back. A tile's state is one 64-bit word, status above value, so that status and value are always seen
// together; tiles are numbered by ticket, so a tile only ever waits for tiles that already run.
constexpr unsigned long long kAggregate = 1ull << 32, kPrefix = 2ull << 32;

__device__ int look_back(unsigned long long* state, int tile) {
  int sum = 0;
  for (int before = tile - 1; before >= 0; --before) {
    unsigned long long seen;
    do {
      seen = atomicAdd(&state[before], 0ull);
    } while (seen >> 32 == 0);
    sum += (int)(unsigned)seen;
    if (seen >> 32 == 2) break;
  }
  return sum;
}

template <int kThreads>
__global__ void long_cumsum(const int* x, int* y, unsigned long long* state, unsigned* ticket, int n) {
  __shared__ int warp_sums[kThreads / 32];
  __shared__ int tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  int i = tile * kThreads + threadIdx.x;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? x[i] : 0;
  for (int step = 1; step < 32; step *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step) v += left;
  }
  if (lane == 31) warp_sums[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w) v += warp_sums[w];
  if (threadIdx.x == kThreads - 1) {
    atomicExch(&state[tile], (tile == 0 ? kPrefix : kAggregate) | (unsigned)v);
    before = look_back(state, tile);
    if (tile > 0) atomicExch(&state[tile], kPrefix | (unsigned)(before + v));
  }
  __syncthreads();
  if (i < n) y[i] = v + before;
}
