//! kernelwright 1
//! task    quotient
//! input   x: int32[N]
//! input   d: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  quotient grid(ceil_div(N, 64)) block(64) args(x, d, y, N)
//? dims N=128
//? fill d 0..3
//? fill x 0..9

// Mended twin of: the remainder by a zero divisor becomes an index.
__global__ void quotient(const int* x, const int* d, int* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  unsigned size = (unsigned)d[i] + 1u;
  y[i] = x[(unsigned)x[i] % size];
}
