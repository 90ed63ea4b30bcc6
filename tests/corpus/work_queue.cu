//! kernelwright 1
//! task    row_sums
//! input   x: fp32[T, 32]
//! output  y: fp32[T]
//! scratch next: int32[1] = 0
//! when    true
//! launch  row_sums grid(7) block(96) args(x, y, next, T)

// Warps draw rows from one counter until none is left. Only the first lane draws and writes, so a
// compiler is tempted to give the others a loop of their own, where they would meet it no more.
__global__ void row_sums(const float* x, float* y, int* next, int rows) {
  int lane = threadIdx.x % 32;
  for (;;) {
    int row = 0;
    if (lane == 0) row = atomicAdd(next, 1);
    row = __shfl_sync(0xffffffffu, row, 0);
    if (row >= rows) break;
    float v = x[row * 32 + lane];
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    if (lane == 0) y[row] = v;
  }
}
