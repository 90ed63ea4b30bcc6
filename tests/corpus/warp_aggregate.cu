//! kernelwright 1
//! task    count_kinds
//! input   x: int32[N]
//! output  y: int32[K]
//! when    K <= 32
//! launch  clear grid(1) block(32) args(y, K)
//! launch  count_kinds grid(ceil_div(N, 96)) block(96) args(x, y, N)

__global__ void clear(int* y, int kinds) {
  if (threadIdx.x < kinds) y[threadIdx.x] = 0;
}

// Each round serves the value of the first lane left; lanes leave the loop at different rounds.
__global__ void count_kinds(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  unsigned left = __ballot_sync(0xffffffffu >> max(0, (i / 32 * 32 + 32) - n), true);
  while (true) {
    int leader = __ffs(left) - 1;
    int served = __shfl_sync(left, v, leader);
    unsigned same = __ballot_sync(left, v == served);
    if (v == served) {
      if (threadIdx.x % 32 == leader) atomicAdd(&y[served], __popc(same));
      break;
    }
    left &= ~same;
  }
}
