//! kernelwright 1
//! task    laplace
//! input   x: fp32[H, W]
//! output  y: fp32[H, W]
//! tune    TILE_X in 32, 8 where TILE_X % 8 == 0
//! when    true
//! launch  laplace<TILE_X> grid(ceil_div(W, TILE_X), ceil_div(H, 8)) block(TILE_X, 8) args(x, y, H, W)

// Zero outside the image. The tile carries a halo of one.
template <int kX>
__global__ void laplace(const float* x, float* y, int height, int width) {
  __shared__ float tile[10][kX + 2];
  int left = blockIdx.x * kX - 1, top = blockIdx.y * 8 - 1;
  for (int i = threadIdx.y * kX + threadIdx.x; i < 10 * (kX + 2); i += 8 * kX) {
    int r = i / (kX + 2), c = i % (kX + 2);
    int gy = top + r, gx = left + c;
    bool inside = gy >= 0 && gy < height && gx >= 0 && gx < width;
    tile[r][c] = inside ? x[gy * width + gx] : 0.0f;
  }
  __syncthreads();
  int gx = blockIdx.x * kX + threadIdx.x, gy = blockIdx.y * 8 + threadIdx.y;
  if (gx >= width || gy >= height) return;
  int r = threadIdx.y + 1, c = threadIdx.x + 1;
  float around = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
  y[gy * width + gx] = fmaf(-4.0f, tile[r][c], around);
}
