//! kernelwright 1
//! task    short_rows
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! when    C <= 128
//! launch  short_rows grid(R) block(128) args(x, y, C)

// Threads past the row leave before the barriers; a barrier does not wait for threads that have exited.
__global__ void short_rows(const int* x, int* y, int cols) {
  __shared__ int row[128];
  int t = threadIdx.x;
  if (t >= cols) return;
  row[t] = x[blockIdx.x * cols + t];
  __syncthreads();
  int v = row[cols - 1 - t];
  __syncthreads();
  row[t] = v * 2;
  __syncthreads();
  y[blockIdx.x * cols + t] = row[t ^ (t + 1 < cols || t % 2 ? 1 : 0)] + v;
}
