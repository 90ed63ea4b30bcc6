//! kernelwright 1
//! task    feed
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0
//! launch  feed grid(N / 64) block(64) args(x, y)
//? dims N=64

// Mended twin of: the producer arrives for the next round without knowing that the last one is over.
__global__ void feed(const int* x, int* y) {
  __shared__ int tile[2][32];
  int t = threadIdx.x, lane = t % 32;
  if (t < 32) {
    for (int round = 0; round < 2; ++round) {
      tile[round][lane] = x[blockIdx.x * 64 + round * 32 + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    }
  } else {
    for (int round = 0; round < 2; ++round) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      y[blockIdx.x * 64 + round * 32 + lane] = tile[round][lane];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}
