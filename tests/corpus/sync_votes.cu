//! kernelwright 1
//! task    block_votes
//! input   x: int32[R, C]
//! output  y: int32[R, 3]
//! when    C <= 1024
//! launch  block_votes grid(R) block(C) args(x, y)

__global__ void block_votes(const int* x, int* y) {
  int v = x[(size_t)blockIdx.x * blockDim.x + threadIdx.x];
  int odd = __syncthreads_count(v & 1);
  int any = __syncthreads_or(v == 7);
  int every = __syncthreads_and(v > -100);
  if (threadIdx.x == 0) {
    y[blockIdx.x * 3 + 0] = odd;
    y[blockIdx.x * 3 + 1] = any != 0;
    y[blockIdx.x * 3 + 2] = every != 0;
  }
}
