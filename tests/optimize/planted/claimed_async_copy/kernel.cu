// Claims copies past the registers; the switch only turns the order of two stores.
//! kernelwright 1
//! task    claimed_async_copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    ORDER in 1, 0
//! method  memory.async_copy when ORDER == 1, off ORDER=0
//! launch  mirror grid(ceil_div(N, 512)) block(256) args(x, y, N)

__global__ void mirror(const float* x, float* y, long long n) {
  __shared__ float tile[512];
  const long long block = static_cast<long long>(blockIdx.x) * 512;
  for (int k = 0; k < 2; ++k) {
    const int at = (ORDER ? k : 1 - k) * 256 + threadIdx.x;
    tile[at] = block + at < n ? x[block + at] : 0.0f;
    if (ORDER) __syncwarp();
  }
  __syncthreads();
  for (int at = threadIdx.x; at < 512; at += 256) {
    const int other = at ^ 1;
    if (block + at < n) y[block + at] = block + other < n ? tile[at] + tile[other] : tile[at];
  }
}
