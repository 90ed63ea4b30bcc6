//! kernelwright 1
//! task    warp_exchange
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 32 == 0
//! launch  warp_exchange grid(ceil_div(N, 96)) block(96) args(x, y, N)

// Lanes pass values through shared memory inside one warp, ordered by __syncwarp alone; then halves of a warp do it
// apart, each with its own mask.
__global__ void warp_exchange(const int* x, int* y, int n) {
  __shared__ int slots[3][32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (i >= n) return;
  int* mine = slots[threadIdx.x / 32];
  int v = x[i];
  for (int step = 1; step < 32; step *= 2) {
    mine[lane] = v;
    __syncwarp();
    int other = mine[lane ^ step];
    __syncwarp();
    v = 2 * v + other;
  }
  if (lane < 16) {
    mine[lane] = v;
    __syncwarp(0x0000ffffu);
    v += mine[15 - lane];
  } else {
    mine[lane] = 3 * v;
    __syncwarp(0xffff0000u);
    v -= mine[lane ^ 1];
  }
  y[i] = v;
}
