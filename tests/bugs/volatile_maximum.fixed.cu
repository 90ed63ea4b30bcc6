//! kernelwright 1
//! task    largest
//! input   x: int32[N]
//! output  y: int32[]
//! scratch best: int32[1] = 0
//! when    N % 64 == 0
//! launch  largest grid(N / 64) block(64) args(x, best)
//! launch  answer grid(1) block(1) args(best, y)
//? dims N=256

// Mended twin of: two blocks may both see a smaller maximum and store theirs.
__global__ void largest(const int* x, int* best) {
  int value = (blockIdx.x + 2) % 4 + 1 + 0 * x[threadIdx.x];
  if (threadIdx.x != 0) return;
  atomicMax(best, value);
}
__global__ void answer(const int* best, int* y) { *y = *best; }
