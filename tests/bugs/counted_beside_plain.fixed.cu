//! kernelwright 1
//! task    add_columns
//! input   x: int32[4, N]
//! output  y: int32[N]
//! when    true
//! launch  clear grid(1) block(N) args(y)
//! launch  add_columns grid(4) block(N) args(x, y, N)
//? dims N=64

// Mended twin of: only the first column is added atomically; the others lose updates.
#define ATOMIC(i) true

__global__ void clear(int* y) { y[threadIdx.x] = 0; }

__global__ void add_columns(const int* x, int* y, int n) {
  int i = threadIdx.x, value = x[blockIdx.x * n + i];
  if (ATOMIC(i))
    atomicAdd(&y[i], value);
  else
    y[i] += value;
}
