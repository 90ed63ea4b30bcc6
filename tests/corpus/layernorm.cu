//! kernelwright 1
//! task    layer_norm
//! input   x: fp32[R, C]
//! input   weight: fp32[C]
//! input   bias?: fp32[C]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp32[R, C]
//! tune    THREADS in 256, 64
//! when    C % 4 == 0
//! launch  layer_norm<THREADS, 4> grid(R) block(THREADS) args(x, weight, bias, y, C, eps)
//! when    true
//! launch  layer_norm<THREADS, 1> grid(R) block(THREADS) args(x, weight, bias, y, C, eps)

template <int kVec>
struct alignas(4 * kVec) Pack {
  float v[kVec];
};

template <int kThreads>
__device__ float block_sum(float v) {
  __shared__ float slots[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) v += slots[w];
  return v;
}

template <int kThreads, int kVec>
__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y, int cols, float eps) {
  using P = Pack<kVec>;
  const P* in = reinterpret_cast<const P*>(x + (size_t)blockIdx.x * cols);
  P* out = reinterpret_cast<P*>(y + (size_t)blockIdx.x * cols);
  int packs = cols / kVec;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < packs; i += kThreads) {
    P p = in[i];
    for (int k = 0; k < kVec; ++k) sum += p.v[k];
  }
  float mean = block_sum<kThreads>(sum) / cols;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < packs; i += kThreads) {
    P p = in[i];
    for (int k = 0; k < kVec; ++k) squares += (p.v[k] - mean) * (p.v[k] - mean);
  }
  float scale = rsqrtf(block_sum<kThreads>(squares) / cols + eps);
  for (int i = threadIdx.x; i < packs; i += kThreads) {
    P p = in[i];
    P w = reinterpret_cast<const P*>(weight)[i];
    for (int k = 0; k < kVec; ++k) p.v[k] = (p.v[k] - mean) * scale * w.v[k];
    if (bias != nullptr) {
      P b = reinterpret_cast<const P*>(bias)[i];
      for (int k = 0; k < kVec; ++k) p.v[k] += b.v[k];
    }
    out[i] = p;
  }
}
