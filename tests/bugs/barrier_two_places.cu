//! kernelwright 1
//! task    halves
//! input   x: int32[64]
//! output  y: int32[64]
//! when    true
//! launch  halves grid(1) block(64) args(x, y)
//? dims

// Bug: the two warps meet at two different barriers.
__global__ void halves(const int* x, int* y) {
  __shared__ int row[64];
  int i = threadIdx.x;
  if (i < 32) {
    row[i] = 2 * x[i];
    __syncthreads();  //~ divergent-barrier
  } else {
    row[i] = 3 * x[i];
    __syncthreads();  //~ divergent-barrier
  }
  y[i] = row[63 - i];
}
