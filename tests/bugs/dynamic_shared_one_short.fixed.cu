//! kernelwright 1
//! task    differences
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! when    C <= 1024
//! launch  differences grid(R) block(C) shared(4 * C + 4) args(x, y, C)
//? dims R=2 C=64

// Mended twin of: the row has one element more than the launch gives room for.
__global__ void differences(const int* x, int* y, int cols) {
  extern __shared__ int row[];
  int t = threadIdx.x;
  row[t + 1] = x[blockIdx.x * cols + t];
  if (t == 0) row[0] = 0;
  __syncthreads();
  y[blockIdx.x * cols + t] = row[t + 1] - row[t];
}
