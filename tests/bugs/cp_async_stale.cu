//! kernelwright 1
//! task    copy
//! input   x: int32[R, 4, 64]
//! output  y: int32[R, 4, 64]
//! when    true
//! launch  copy grid(R) block(64) args(x, y)
//? dims R=2

// Bug: one copy too many may be under way, so the values of the round before are read.
#define PENDING "1"

__global__ void copy(const int* x, int* y) {
  __shared__ int stage[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&stage[t]);
  stage[t] = 0;
#pragma unroll 1
  for (int i = blockIdx.x * 256 + t; i < blockIdx.x * 256 + 256; i += 64) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group " PENDING ";" ::: "memory");
    y[i] = stage[t];  //~ missing-copy-wait
  }
}
