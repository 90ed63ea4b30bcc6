//! kernelwright 1
//! task    digits
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  digits grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=40
//? fill x 0..8

// Mended twin of: a count of 8 is used as an index into 8 counters.
__global__ void digits(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int counters[8] = {};
#pragma unroll 1
  for (int k = 0; k <= i % 7; ++k) {
    int at = x[(i + k) % n];
    counters[at % 8] += 1;
  }
  y[i] = counters[x[i] % 8];
}
