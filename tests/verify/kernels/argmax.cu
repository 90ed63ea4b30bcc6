//! kernelwright 1
//! task    argmax
//! input   x: fp32[B, D]
//! output  y: int64[B]
//! launch  argmax grid(B) block(32) args(x, y, D)

__global__ void argmax(const float* x, long long* y, int D) {
  x += static_cast<size_t>(blockIdx.x) * D;
  float best = -__int_as_float(0x7f800000);
  int where = D;
  for (int i = threadIdx.x; i < D; i += 32) {
    if (x[i] > best || where == D) {
      best = x[i];
      where = i;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, best, offset);
    const int there = __shfl_xor_sync(0xffffffffu, where, offset);
    if (there < D && (other > best || (other == best && there < where) || where == D)) {
      best = other;
      where = there;
    }
  }
  if (threadIdx.x == 0) y[blockIdx.x] = where;
}
