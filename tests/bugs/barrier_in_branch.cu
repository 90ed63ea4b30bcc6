//! kernelwright 1
//! task    half_block
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  half_block grid(R) block(64) args(x, y)
//? dims R=2
//? also shared-race missing-syncwarp uninitialised-use output-not-written deadlock

// Bug: the barrier is inside a branch that only some threads take; the others wait at the next one.
__global__ void half_block(const int* x, int* y) {
  __shared__ int row[64];
  int t = threadIdx.x, v = -1;
  row[t] = x[blockIdx.x * 64 + t];
  if (t < 40) {
    __syncthreads();  //~ divergent-barrier
    v = row[63 - t];
  }
  __syncthreads();  //~ divergent-barrier
  row[t] = v + t;
  __syncthreads();
  y[blockIdx.x * 64 + t] = row[t ^ 1];
}
