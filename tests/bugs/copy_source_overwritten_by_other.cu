//! kernelwright 1
//! task    stage_in
//! inout   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0
//! launch  stage_in grid(N / 64) block(64) args(x, y)
//? dims N=128
//? certain

// Bug: after a barrier other threads overwrite what the copies may still be reading.
__global__ void stage_in(int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  x[blockIdx.x * 64 + 63 - t] = t;  //~ missing-copy-wait
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[i] = s[63 - t];
}
