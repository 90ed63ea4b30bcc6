//! kernelwright 1
//! task    largest
//! input   x: int32[N]
//! output  y: int32[2]
//! scratch best: int32[2] = 0
//! scratch lock: uint32[1] = 0
//! scratch count: uint32[1] = 0
//! when    N % 32 == 0
//! launch  largest grid(N / 32) block(32) args(x, best, lock, count, y)
//? dims N=128

// Mended twin of: the lock is taken and freed by atomics, but no fence orders what it protects.
#define FENCE __threadfence()

__global__ void largest(const int* x, int* best, unsigned* lock, unsigned* count, int* y) {
  if (threadIdx.x != 0) return;
  int at = blockIdx.x * 32, value = abs(x[at] % 1000);
  for (int i = at + 1; i < (int)blockIdx.x * 32 + 32; ++i)
    if (abs(x[i] % 1000) > value) value = abs(x[i] % 1000), at = i;
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  FENCE;
  if (value > best[0]) {
    best[0] = value;
    best[1] = at;
  }
  FENCE;
  atomicExch(lock, 0u);
  __threadfence();
  if (atomicAdd(count, 1u) == gridDim.x - 1) {
    __threadfence();
    y[0] = best[0];
    y[1] = best[1];
  }
}
