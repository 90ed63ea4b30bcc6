//! kernelwright 1
//! task    reversed_tiles
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  reversed_tiles grid(ceil_div(N, 128)) block(128) args(x, y, N)
//? dims N=500

// Bug: some lanes of the last warp leave before the barrier of the whole block.
__global__ void reversed_tiles(const int* x, int* y, int n) {
  __shared__ int tile[128];
  int i = blockIdx.x * 128 + threadIdx.x, last = min(127, n - 1 - (int)blockIdx.x * 128);
  if (i >= n) return;
  tile[threadIdx.x] = x[i];
  __syncthreads();  //~ divergent-barrier
  y[i] = tile[last - threadIdx.x];
}
