//! kernelwright 1
//! task    row_max
//! input   x: int32[R, 96]
//! output  y: int32[R]
//! when    true
//! launch  row_max grid(R) block(96) args(x, y)
//? dims R=2

// Mended twin of: the last step reduces 32 slots, but only the three warps of the block have filled theirs.
__global__ void row_max(const int* x, int* y) {
  __shared__ int slots[32];
  int t = threadIdx.x, v = x[blockIdx.x * 96 + t];
  for (int step = 16; step > 0; step /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, step));
  if (t % 32 == 0) slots[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < 3 ? slots[t] : slots[0];
    for (int step = 16; step > 0; step /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, step));
    if (t == 0) y[blockIdx.x] = v;
  }
}
