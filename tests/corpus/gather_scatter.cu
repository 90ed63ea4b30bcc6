//! kernelwright 1
//! task    permute
//! input   x: fp32[N]
//! input   from: int64[N]
//! input   to: int32[N]
//! output  y: fp32[N]
//! when    true
//! launch  permute grid(ceil_div(N, 128)) block(128) args(x, from, to, y, N)

// `to` is a permutation, so every output has exactly one writer.
__global__ void permute(const float* x, const long long* from, const int* to, float* y, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[to[i]] = x[from[i]];
}
