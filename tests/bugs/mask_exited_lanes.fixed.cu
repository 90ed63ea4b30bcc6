//! kernelwright 1
//! task    row_sum
//! input   x: int32[R, C]
//! output  y: int32[R]
//! when    C <= 32
//! launch  row_sum grid(R) block(32) args(x, y, C)
//? dims R=2 C=20

// Mended twin of: lanes past the end have left, and the mask still names them.
__global__ void row_sum(const int* x, int* y, int cols) {
  int lane = threadIdx.x;
  int v = 0;
  if (lane < cols) v = x[blockIdx.x * cols + lane];
  for (int step = 16; step > 0; step /= 2) {
    v += __shfl_xor_sync(0xffffffffu, v, step);
  }
  if (lane == 0) y[blockIdx.x] = v;
}
