//! kernelwright 1
//! task    shifted
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  shifted grid(1) block(256) args(x, y, N)
//? dims N=96

// Mended twin of: warps beyond the end leave before the barrier of the whole block.
__global__ void shifted(const int* x, int* y, int n) {
  __shared__ int row[256];
  int i = threadIdx.x;
  if (i < n) row[i] = x[i];
  __syncthreads();
  if (i < n) y[i] = row[(i + 1) % n];
}
