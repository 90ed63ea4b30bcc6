//! kernelwright 1
//! task    rope
//! input   x: fp32[T, H, D]
//! input   angle: fp32[T, D / 2]
//! output  y: fp32[T, H, D]
//! when    D % 2 == 0
//! launch  rope grid(T, H) block(64) args(x, angle, y, H, D)

__global__ void rope(const float* x, const float* angle, float* y, int heads, int width) {
  int half = width / 2;
  size_t row = ((size_t)blockIdx.x * heads + blockIdx.y) * width;
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    float s, c;
    sincosf(angle[blockIdx.x * half + i], &s, &c);
    float a = x[row + i], b = x[row + half + i];
    y[row + i] = a * c - b * s;
    y[row + half + i] = a * s + b * c;
  }
}
