//! kernelwright 1
//! task    rotate
//! input   x: int32[R, 96]
//! output  y: int32[R, 96]
//! when    true
//! launch  rotate grid(R) block(96) args(x, y)
//? dims R=2

// Mended twin of: what another warp is about to read is overwritten.
__global__ void rotate(const int* x, int* y) {
  __shared__ int row[96];
  int t = threadIdx.x;
  row[t] = x[blockIdx.x * 96 + t];
  __syncthreads();
  int v = row[(t + 32) % 96];
  __syncthreads();
  row[t] = v * 2;
  __syncthreads();
  y[blockIdx.x * 96 + t] = row[95 - t];
}
