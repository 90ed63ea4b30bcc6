//! kernelwright 1
//! task    producer
//! input   x: int32[32]
//! output  y: int32[32]
//! when    true
//! launch  producer grid(1) block(64) args(x, y, 2)
//? dims
//? also shared-race output-not-written

// Bug: one warp announces the data at barrier 2, the other waits at barrier 1.
__global__ void producer(const int* x, int* y, int announce) {
  __shared__ int row[32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    row[lane] = x[lane];
    asm volatile("barrier.arrive %0, 64;" ::"r"(announce) : "memory");
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");  //~ divergent-barrier
    y[lane] = row[31 - lane];
  }
}
