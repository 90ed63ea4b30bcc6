//! kernelwright 1
//! task    stream
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 32 == 0
//! launch  stream grid(1) block(64) args(x, y, N)
//? dims N=160
//? also divergent-barrier shared-race output-not-written
//? certain

// Bug: the loading warp says when a slot is full, but nothing says when it is empty.
__global__ void stream(const int* x, int* y, int n) {
  __shared__ int slot[32];
  int t = threadIdx.x, lane = t % 32;
  for (int i = 0; i < n; i += 32) {
    if (t < 32) {
      slot[lane] = x[i + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");  //~ barrier-misuse
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      y[i + lane] = slot[31 - lane];
    }
  }
}
