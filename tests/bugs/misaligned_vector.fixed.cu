//! kernelwright 1
//! task    shift
//! input   x: fp32[N]
//! output  y: fp32[N - 4]
//! when    N % 4 == 0
//! launch  shift grid(1) block(64) args(x, y, N / 4 - 1)
//? dims N=128

// Mended twin of: a vector load from an address that is only a multiple of 4.
__global__ void shift(const float* x, float* y, int quads) {
  for (int q = threadIdx.x; q < quads; q += blockDim.x) {
    const float* p = x + 4 * q + 1;
    float4 v = make_float4(p[0], p[1], p[2], p[3]);
    reinterpret_cast<float4*>(y)[q] = make_float4(v.x + 1.0f, v.y, v.z, v.w);
  }
}
