//! kernelwright 1
//! task    axpb
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    N % 4 == 0
//! launch  axpb<4> grid(ceil_div(N / 4, 256)) block(256) args(x, y, N)
//! when    true
//! launch  axpb<1> grid(ceil_div(N, 256)) block(256) args(x, y, N)

template <int kVec>
struct alignas(kVec * sizeof(float)) Pack {
  float values[kVec];
};

template <int kVec>
__global__ void axpb(const float* x, float* y, long long n) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at * kVec >= n) return;
  const Pack<kVec> px = reinterpret_cast<const Pack<kVec>*>(x)[at];
  Pack<kVec> out;
  for (int k = 0; k < kVec; ++k) {
    out.values[k] = px.values[k] * 3.0f + 1.0f;
  }
  reinterpret_cast<Pack<kVec>*>(y)[at] = out;
}
