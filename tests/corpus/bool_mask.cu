//! kernelwright 1
//! task    masked_fill
//! input   x: fp32[N]
//! input   mask: bool[N]
//! scalar  value: fp32 = -1e4
//! output  y: fp32[N]
//! output  kept: bool[N]
//! when    true
//! launch  masked_fill grid(ceil_div(N, 128)) block(128) args(x, mask, y, kept, N, value)

__global__ void masked_fill(const float* x, const bool* mask, float* y, bool* kept, int n, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool hide = mask[i];
  y[i] = hide ? value : x[i];
  kept[i] = !hide;
}
