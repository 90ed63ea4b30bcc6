//! kernelwright 1
//! task    chain
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 96 == 0
//! launch  chain grid(N / 96) block(96) args(x, y)
//? dims N=96
//? also shared-race deadlock divergent-barrier

// Bug: a warp meets two partners at one barrier, and the second may come first.
__global__ void chain(const int* x, int* y) {
  __shared__ int tile[96];
  int t = threadIdx.x, warp = t / 32, value = x[blockIdx.x * 96 + t];
  if (warp == 1) {
    tile[t] = value;
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else if (warp == 0) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    tile[t] = value + tile[t + 32];
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");  //~ barrier-misuse
    value += tile[t - 64];
  }
  y[blockIdx.x * 96 + t] = value;
}
