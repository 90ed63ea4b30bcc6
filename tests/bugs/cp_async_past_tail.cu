//! kernelwright 1
//! task    copy
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  copy grid(ceil_div(N, 256)) block(64) args(x, y, N)
//? dims N=510
//? also uninitialised-use

// Bug: each thread copies 16 bytes, although the last ones have fewer left.
__global__ void copy(const int* x, int* y, int n) {
  __shared__ __align__(16) int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + 4 * t;
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[4 * t]);
  if (i < n) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + i) : "memory");  //~ out-of-bounds-global
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int k = 0; k < 4; ++k)
    if (i + k < n) y[i + k] = s[4 * t + k];
}
