//! kernelwright 1
//! task    talk
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0
//! launch  talk grid(N / 64) block(64) args(x, y)
//? dims N=64
//? budget 1000000
//? expect instruction-budget

// Bug: a kernel that only prints never ends: text counts as work.
#include <cstdio>

__global__ void talk(const int* x, int* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = x[i];
  for (int k = 0; y[i] == x[i] || k < 9; ++k) printf("element %d is %d\n", i, x[i] + k);
}
