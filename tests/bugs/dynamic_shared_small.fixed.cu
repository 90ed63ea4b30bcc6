//! kernelwright 1
//! task    reverse
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! when    C <= 256
//! launch  reverse grid(R) block(C) shared(4 * C) args(x, y)
//? dims R=2 C=70

// Mended twin of: the launch asks for one element too few.
__global__ void reverse(const int* x, int* y) {
  extern __shared__ int row[];
  int t = threadIdx.x, cols = blockDim.x;
  row[t] = x[blockIdx.x * cols + t];
  __syncthreads();
  y[blockIdx.x * cols + t] = row[cols - 1 - t];
}
