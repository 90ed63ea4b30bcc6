// A remainder by a number the compiler knows; without it by one that comes at run time.
//! kernelwright 1
//! task    known_divisor
//! input   x: int32[N]
//! output  y: int32[N]
//! tune    KNOWN in 1, 0
//! method  compute.strength_reduce when KNOWN == 1, off KNOWN=0
//! launch  remainders grid(ceil_div(N, 256)) block(256) args(x, y, N, 1000)

__global__ void remainders(const int* x, int* y, long long n, int divisor) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= n) return;
  const int by = KNOWN ? 1000 : divisor;
  int value = x[i], sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    sum += value % by;
    value += 977;
  }
  y[i] = sum;
}
