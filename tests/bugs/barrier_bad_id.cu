//! kernelwright 1
//! task    swap
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  swap grid(R) block(64) args(x, y, 16)
//? dims R=1
//? also shared-race

// Bug: there are sixteen barriers, numbered from 0 to 15.
__global__ void swap(const int* x, int* y, int barrier) {
  __shared__ int row[64];
  int t = threadIdx.x;
  row[t] = x[blockIdx.x * 64 + t];
  asm volatile("barrier.sync %0, 64;" ::"r"(barrier) : "memory");  //~ barrier-misuse
  y[blockIdx.x * 64 + t] = row[63 - t];
}
