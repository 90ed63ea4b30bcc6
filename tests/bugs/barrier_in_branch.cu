//! kernelwright 1
//! task    half_block
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  half_block grid(R) block(64) args(x, y)
//? dims R=2
//? also shared-race uninitialised-use output-not-written

// Bug: the barrier is inside a branch that only some threads take.
__global__ void half_block(const int* x, int* y) {
  __shared__ int row[64];
  int t = threadIdx.x;
  row[t] = x[blockIdx.x * 64 + t];
  if (t < 40) {
    __syncthreads();  //~ divergent-barrier
    y[blockIdx.x * 64 + t] = row[63 - t];
  } else {
    y[blockIdx.x * 64 + t] = -1;
  }
}
