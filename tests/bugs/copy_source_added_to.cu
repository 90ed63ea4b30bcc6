//! kernelwright 1
//! task    stage_in
//! inout   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0
//! launch  stage_in grid(N / 64) block(64) args(x, y)
//? dims N=64
//? certain

// Bug: the group that still reads the second half is not the one waited for.
__global__ void stage_in(int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t < 32) {
    for (int k = 0; k < 2; ++k) {
      unsigned to = (unsigned)__cvta_generic_to_shared(&s[t + 32 * k]);
      const int* from = x + blockIdx.x * 64 + t + 32 * k;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    atomicAdd(x + blockIdx.x * 64 + t + 32, 1);  //~ missing-copy-wait
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  y[i] = s[63 - t];
}
