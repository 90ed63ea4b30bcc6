//! kernelwright 1
//! task    scale_tail
//! input   x: fp32[N]
//! output  y: fp32[N]
//! launch  scale_tail grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=150

// Bug: the hand-written load leaves its register alone past the last pair, and the value is used all the same.
__global__ void scale_tail(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float next;
  asm volatile(
      "{ .reg .pred inside; .reg .f32 loaded;\n"
      "  setp.lt.s32 inside, %2, %3;\n"
      "  @inside ld.global.f32 loaded, [%1];\n"
      "  mov.f32 %0, loaded; }"
      : "=f"(next)
      : "l"(x + i + 1), "r"(i + 1), "r"(n));
  y[i] = x[i] + 0.5f * next;  //~ uninitialised-use
}
