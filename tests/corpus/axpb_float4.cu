//! kernelwright 1
//! task    axpb
//! input   x: fp32[N]
//! scalar  a: fp32 = 1.5
//! scalar  b: fp32 = -0.25
//! output  y: fp32[N]
//! tune    THREADS in 128, 256
//! tune    VEC in 4, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! when    VEC == 4 && N % 4 == 0
//! launch  axpb4 grid(min(ceil_div(N / 4, THREADS), 2 * SMS)) block(THREADS) args(x, y, N / 4, a, b)
//! when    true
//! launch  axpb1 grid(min(ceil_div(N, THREADS), 2 * SMS)) block(THREADS) args(x, y, N, a, b)

__global__ void axpb4(const float* __restrict__ x, float* __restrict__ y, int quads, float a, float b) {
  const float4* in = reinterpret_cast<const float4*>(x);
  float4* out = reinterpret_cast<float4*>(y);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    float4 v = in[i];
    v.x = fmaf(a, v.x, b);
    v.y = fmaf(a, v.y, b);
    v.z = fmaf(a, v.z, b);
    v.w = fmaf(a, v.w, b);
    out[i] = v;
  }
}

__global__ void axpb1(const float* __restrict__ x, float* __restrict__ y, int n, float a, float b) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = fmaf(a, x[i], b);
  }
}
