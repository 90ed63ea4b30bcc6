//! kernelwright 1
//! task    conv2d
//! input   x: fp32[B, C, H, W]
//! input   k: fp32[O, C, 3, 3]
//! output  y: fp32[B, O, H, W]
//! when    C <= 64
//! launch  conv2d grid(ceil_div(H * W, 64), O, B) block(64) shared(36 * C) args(x, k, y, C, H, W)

__global__ void conv2d(const float* x, const float* k, float* y, int channels, int height, int width) {
  extern __shared__ float filter[];
  int out = blockIdx.y;
  for (int i = threadIdx.x; i < channels * 9; i += blockDim.x) filter[i] = k[out * channels * 9 + i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= height * width) return;
  int py = p / width, px = p % width;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c) {
    const float* plane = x + ((size_t)blockIdx.z * channels + c) * height * width;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
      for (int dx = -1; dx <= 1; ++dx) {
        int sy = py + dy, sx = px + dx;
        if (sy < 0 || sy >= height || sx < 0 || sx >= width) continue;
        sum = fmaf(plane[sy * width + sx], filter[c * 9 + (dy + 1) * 3 + dx + 1], sum);
      }
    }
  }
  y[((size_t)blockIdx.z * gridDim.y + out) * height * width + p] = sum;
}
