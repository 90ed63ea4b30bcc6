//! kernelwright 1
//! task    quotient
//! input   x: int32[N]
//! input   d: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  quotient grid(ceil_div(N, 64)) block(64) args(x, d, y, N)
//? dims N=128
//? fill d 0..3

// Bug: some divisors are zero.
__global__ void quotient(const int* x, const int* d, int* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] / d[i];  //~ uninitialised-use
}
