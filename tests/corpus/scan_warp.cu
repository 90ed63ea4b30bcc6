//! kernelwright 1
//! task    cummax
//! input   x: fp32[R, C]
//! output  y: fp32[R, C]
//! when    true
//! launch  cummax grid(R) block(32) args(x, y, C)

// One warp walks its row 32 elements at a time and carries the running maximum.
__global__ void cummax(const float* x, float* y, int cols) {
  int lane = threadIdx.x;
  float carry = __int_as_float(0xff800000);
  for (int base = 0; base < cols; base += 32) {
    int c = base + lane;
    float v = c < cols ? x[(size_t)blockIdx.x * cols + c] : __int_as_float(0xff800000);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      float left = __shfl_up_sync(0xffffffffu, v, step);
      if (lane >= step) v = fmaxf(v, left);
    }
    v = fmaxf(v, carry);
    if (c < cols) y[(size_t)blockIdx.x * cols + c] = v;
    carry = __shfl_sync(0xffffffffu, v, 31);
  }
}
