//! kernelwright 1
//! task    fft
//! input   x: fp32[R, 256, 2]
//! output  y: fp32[R, 256, 2]
//! when    true
//! launch  fft grid(R) block(128) args(x, y)

__global__ void fft(const float* x, float* y) {
  __shared__ float2 v[256];
  const float2* in = reinterpret_cast<const float2*>(x) + (size_t)blockIdx.x * 256;
  float2* out = reinterpret_cast<float2*>(y) + (size_t)blockIdx.x * 256;
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 128) v[__brev(i) >> 24] = in[i];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();
    int k = t % half;
    int low = 2 * (t - k) + k, high = low + half;
    float s, c;
    sincospif(-(float)k / half, &s, &c);
    float2 a = v[low], b = v[high];
    float2 w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    v[low] = make_float2(a.x + w.x, a.y + w.y);
    v[high] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  for (int i = t; i < 256; i += 128) out[i] = v[i];
}
