//! kernelwright 1
//! task    cumsum
//! input   x: fp32[B, D]
//! output  y: fp32[B, D]
//! launch  cumsum grid(ceil_div(B, 8)) block(32, 8) args(x, y, B, D)
// One warp per row: a shuffle scan over 32 elements at a time, the carry in a register.
__global__ void cumsum(const float* x, float* y, int B, int D) {
  const int row = blockIdx.x * 8 + threadIdx.y;
  if (row >= B) return;
  const size_t base = static_cast<size_t>(row) * D;
  const int lane = threadIdx.x;
  float carry = 0.0f;
  for (int begin = 0; begin < D; begin += 32) {
    const int i = begin + lane;
    float value = i < D ? x[base + i] : 0.0f;
    for (int offset = 1; offset < 32; offset *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, value, offset);
      if (lane >= offset) value += left;
    }
    if (i < D) y[base + i] = carry + value;
    carry += __shfl_sync(0xffffffffu, value, 31);
  }
}
