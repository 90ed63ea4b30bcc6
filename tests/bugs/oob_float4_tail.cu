//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  scale grid(ceil_div(ceil_div(N, 4), 64)) block(64) args(x, y, N)
//? dims N=101
//? also output-not-written

// Bug: the last vector is read and written whole although only part of it exists.
__global__ void scale(const float* x, float* y, int n) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * q + 3 < n || 4 * q < n) {
    float4 v = reinterpret_cast<const float4*>(x)[q];  //~ out-of-bounds-global
    v.x *= 3.0f;
    v.y *= 3.0f;
    v.z *= 3.0f;
    v.w *= 3.0f;
    reinterpret_cast<float4*>(y)[q] = v;
  } else {
    for (int i = 4 * q; i < n; ++i) y[i] = 3.0f * x[i];
  }
}
