//! kernelwright 1
//! task    quotient
//! input   x: int32[N]
//! input   d: int32[N]
//! output  y: int64[N]
//! when    true
//! launch  quotient grid(ceil_div(N, 64)) block(64) args(x, d, y, N)
//? dims N=128
//? fill d 0..3

// Mended twin of: a 64-bit division by zero.
__global__ void quotient(const int* x, const int* d, long long* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  long long by = d[i];
  if (by == 0) by = 1;
  y[i] = ((long long)x[i] << 33) / by;
}
