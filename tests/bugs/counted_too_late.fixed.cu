//! kernelwright 1
//! task    add_rows
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch done: uint32[1] = 0
//! when    true
//! launch  add_rows grid(2) block(64) args(x, y, done)
//? dims N=128

// Mended twin of: the blocks count themselves when they are done, but nobody waits for the count.
#define WAIT(n) \
  if (i == 0) { \
    while (atomicAdd(done, 0u) < (n)) { \
    } \
    __threadfence(); \
  } \
  __syncthreads()

__global__ void add_rows(const int* x, int* y, unsigned* done) {
  int i = threadIdx.x;
  WAIT(blockIdx.x);
  int sum = x[blockIdx.x * 64 + i];
  if (blockIdx.x > 0) sum += y[i];
  y[i] = sum;
  __threadfence();
  __syncthreads();
  if (i == 0) atomicAdd(done, 1u);
}
