//! kernelwright 1
//! task    count
//! input   x: int32[N]
//! output  y: int32[1]
//! when    true
//! launch  count grid(1) block(64) args(x, y)
//? dims N=64

// Mended twin of: other warps may count before thread 0 has cleared the counter.
#define MEET __syncthreads()

__global__ void count(const int* x, int* y) {
  int i = threadIdx.x;
  if (i == 0) y[0] = 0;
  MEET;
  atomicAdd(y, x[i]);
}
