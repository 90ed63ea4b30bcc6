//! kernelwright 1
//! task    mandelbrot
//! output  y: int32[H, W]
//! scalar  limit: int32 = 200
//! when    true
//! launch  mandelbrot grid(ceil_div(W, 16), ceil_div(H, 4)) block(16, 4) args(y, H, W, limit)

// Separately rounded steps, so that the count is defined exactly. Lanes leave the loop at very different times.
__global__ void mandelbrot(int* y, int height, int width, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cr = __fadd_rn(-2.0f, __fdiv_rn(__fmul_rn(3.0f, (float)px), (float)width));
  float ci = __fadd_rn(-1.0f, __fdiv_rn(__fmul_rn(2.0f, (float)py), (float)height));
  float zr = 0.0f, zi = 0.0f;
  int count = 0;
  while (count < limit) {
    float rr = __fmul_rn(zr, zr), ii = __fmul_rn(zi, zi);
    if (__fadd_rn(rr, ii) > 4.0f) break;
    zi = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, zr), zi), ci);
    zr = __fadd_rn(__fsub_rn(rr, ii), cr);
    ++count;
  }
  y[py * width + px] = count;
}
