//! kernelwright 1
//! task    count
//! input   x: int32[N]
//! output  y: int32[]
//! scratch hits: int32[1] = 0
//! when    N % 64 == 0
//! launch  count grid(N / 64) block(64) args(x, hits)
//! launch  answer grid(1) block(1) args(hits, y)
//? dims N=256
//? fill x 0..0
//? also global-race-in-block missing-syncwarp

// Bug: volatile does not make an increment atomic.
__global__ void count(const int* x, int* hits) {
  if (x[blockIdx.x * 64 + threadIdx.x] == x[0]) {
    *(volatile int*)hits = *(volatile int*)hits + 1;  //~ global-race-between-blocks
  }
}
__global__ void answer(const int* hits, int* y) { *y = *hits; }
