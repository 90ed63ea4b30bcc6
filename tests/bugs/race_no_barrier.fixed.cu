//! kernelwright 1
//! task    reverse
//! input   x: int32[R, 128]
//! output  y: int32[R, 128]
//! when    true
//! launch  reverse grid(R) block(128) args(x, y)
//? dims R=3

// Mended twin of: another warp's element is read with no barrier after the write.
__global__ void reverse(const int* x, int* y) {
  __shared__ int row[128];
  int t = threadIdx.x;
  row[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  y[blockIdx.x * 128 + t] = row[127 - t];
}
