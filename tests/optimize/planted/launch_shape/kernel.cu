// Blocks that leave room for others; without it two small blocks fill a multiprocessor.
//! kernelwright 1
//! task    launch_shape
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    THREADS in 256, 64
//! tune    RESERVED in 0, 100000
//! method  compute.launch_config when THREADS == 256 && RESERVED == 0, off THREADS=64, RESERVED=100000
//! launch  halve grid(ceil_div(N, THREADS)) block(THREADS) shared(RESERVED) args(x, y, N)

__global__ void halve(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
  if (i < n) y[i] = x[i] * 0.5f;
}
