//! kernelwright 1
//! task    max_pool
//! input   x: fp16[P, H, W]
//! output  y: fp16[P, ceil_div(H, 2), ceil_div(W, 2)]
//! let     OH = ceil_div(H, 2)
//! let     OW = ceil_div(W, 2)
//! when    true
//! launch  max_pool grid(ceil_div(OW, 16), ceil_div(OH, 4), P) block(16, 4) args(x, y, H, W, OH, OW)
#include <cuda_fp16.h>

__global__ void max_pool(const __half* x, __half* y, int height, int width, int out_height, int out_width) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox >= out_width || oy >= out_height) return;
  const __half* plane = x + (size_t)blockIdx.z * height * width;
  __half best = plane[2 * oy * width + 2 * ox];
  for (int sy = 2 * oy; sy < min(2 * oy + 2, height); ++sy) {
    for (int sx = 2 * ox; sx < min(2 * ox + 2, width); ++sx) best = __hmax(best, plane[sy * width + sx]);
  }
  y[((size_t)blockIdx.z * out_height + oy) * out_width + ox] = best;
}
