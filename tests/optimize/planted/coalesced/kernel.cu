// Neighbouring threads touch neighbouring elements; without it each walks its own piece.
//! kernelwright 1
//! task    coalesced
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    NEAR in 1, 0
//! method  memory.coalesced_access when NEAR == 1, off NEAR=0
//! launch  shift grid(ceil_div(N, 256 * 16)) block(256) args(x, y, N)

__global__ void shift(const float* x, float* y, long long n) {
  const long long block = static_cast<long long>(blockIdx.x) * 256 * 16;
  for (int k = 0; k < 16; ++k) {
    const long long i = block + (NEAR ? k * 256 + threadIdx.x : threadIdx.x * 16 + k);
    if (i < n) y[i] = x[i] + 1.0f;
  }
}
