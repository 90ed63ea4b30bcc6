//! kernelwright 1
//! task    rotate
//! input   x: int32[B, 128]
//! output  y: int32[B, 128]
//! scratch row: int32[B, 128]
//! when    true
//! launch  rotate grid(B) block(128) args(x, row, y)
//? dims B=3

// Mended twin of: a load through the read-only cache of what the launch wrote.
__global__ void rotate(const int* x, int* row, int* y) {
  int at = blockIdx.x * 128, t = threadIdx.x;
  row[at + t] = 3 * x[at + t];
  __syncthreads();
  y[at + t] = row[at + (t + 1) % 128];
}
