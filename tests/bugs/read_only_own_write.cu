//! kernelwright 1
//! task    twice
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  twice grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=100

// Bug: a thread reads what it wrote itself, but through the read-only cache.
__global__ void twice(const int* x, int* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];
  int back;
  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(back) : "l"(y + i) : "memory");  //~ stale-read-only-load
  y[i] = 2 * back;
}
