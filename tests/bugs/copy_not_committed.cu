//! kernelwright 1
//! task    copy
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  copy grid(R) block(64) args(x, y)
//? dims R=2
//? also uninitialised-use

// Bug: wait_group waits for committed groups, and this copy is in none.
__global__ void copy(const int* x, int* y) {
  __shared__ int row[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&row[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + blockIdx.x * 64 + t) : "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[blockIdx.x * 64 + t] = row[63 - t];  //~ missing-copy-wait
}
