//! kernelwright 1
//! task    grey_blur
//! input   image: uint8[H, W, 4]
//! output  grey: uint8[H, W]
//! scratch luma: uint8[H, W]
//! when    true
//! launch  to_luma grid(ceil_div(H * W, 128)) block(128) args(image, luma, H * W)
//! launch  blur grid(ceil_div(W, 16), ceil_div(H, 8)) block(16, 8) args(luma, grey, H, W)

__global__ void to_luma(const unsigned char* image, unsigned char* luma, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  uchar4 p = reinterpret_cast<const uchar4*>(image)[i];
  luma[i] = (unsigned char)((77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8);
}

__global__ void blur(const unsigned char* luma, unsigned char* grey, int height, int width) {
  int cx = blockIdx.x * blockDim.x + threadIdx.x;
  int cy = blockIdx.y * blockDim.y + threadIdx.y;
  if (cx >= width || cy >= height) return;
  int sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      int px = min(max(cx + dx, 0), width - 1);
      int py = min(max(cy + dy, 0), height - 1);
      sum += luma[py * width + px];
    }
  }
  grey[cy * width + cx] = (unsigned char)((sum + 4) / 9);
}
