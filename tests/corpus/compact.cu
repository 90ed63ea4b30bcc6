//! kernelwright 1
//! task    keep_positive
//! input   x: int32[N]
//! output  y: int32[N]
//! output  count: int32[]
//! let     blocks = ceil_div(N, 128)
//! scratch counts: int32[blocks]
//! when    blocks <= 1024
//! launch  count_kept grid(blocks) block(128) args(x, counts, N)
//! launch  offsets grid(1) block(1024) args(counts, count, blocks)
//! launch  move_kept grid(blocks) block(128) args(x, counts, y, N)
//! launch  fill_rest grid(blocks) block(128) args(y, count, N)

__global__ void count_kept(const int* x, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = __syncthreads_count(i < n && x[i] > 0);
  if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

__global__ void offsets(int* counts, int* count, int blocks) {
  __shared__ int warps[32];
  int t = threadIdx.x, lane = t % 32;
  int own = t < blocks ? counts[t] : 0;
  int v = own;
  for (int step = 1; step < 32; step *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step) v += left;
  }
  if (lane == 31) warps[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    int w = warps[t];
    for (int step = 1; step < 32; step *= 2) {
      int left = __shfl_up_sync(0xffffffffu, w, step);
      if (lane >= step) w += left;
    }
    warps[t] = w;
  }
  __syncthreads();
  if (t >= 32) v += warps[t / 32 - 1];
  if (t < blocks) counts[t] = v - own;
  if (t == blockDim.x - 1) *count = v;
}

__global__ void move_kept(const int* x, const int* counts, int* y, int n) {
  __shared__ int warps[4];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? x[i] : 0;
  unsigned kept = __ballot_sync(0xffffffffu, v > 0);
  if (lane == 0) warps[warp] = __popc(kept);
  __syncthreads();
  int at = counts[blockIdx.x];
  for (int w = 0; w < warp; ++w) at += warps[w];
  at += __popc(kept & ((1u << lane) - 1));
  if (v > 0) y[at] = v;
}

__global__ void fill_rest(int* y, const int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= *count && i < n) y[i] = -1;
}
