//! kernelwright 1
//! task    reverse
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  reverse grid(R) block(64) args(x, y)
//? dims R=2
//? also shared-race

// Bug: the background copy is never waited for.
#define WAIT

__global__ void reverse(const int* x, int* y) {
  __shared__ int row[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&row[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + blockIdx.x * 64 + t) : "memory");
  WAIT;
  __syncthreads();
  y[blockIdx.x * 64 + t] = row[63 - t];  //~ missing-copy-wait
}
