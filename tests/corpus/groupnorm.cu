//! kernelwright 1
//! task    group_norm
//! input   x: fp32[B, C, S]
//! input   weight: fp32[C]
//! input   bias: fp32[C]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp32[B, C, S]
//! tune    GROUPS in 4, 1
//! when    C % GROUPS == 0
//! launch  group_norm grid(GROUPS, B) block(128) args(x, weight, bias, y, C / GROUPS, S, eps)

__device__ float2 block_sums(float2 v) {
  __shared__ float2 slots[4];
  for (int step = 16; step > 0; step /= 2) {
    v.x += __shfl_xor_sync(0xffffffffu, v.x, step);
    v.y += __shfl_xor_sync(0xffffffffu, v.y, step);
  }
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  return make_float2(slots[0].x + slots[1].x + slots[2].x + slots[3].x,
                     slots[0].y + slots[1].y + slots[2].y + slots[3].y);
}

__global__ void group_norm(const float* x, const float* weight, const float* bias, float* y, int channels, int space,
                           float eps) {
  int count = channels * space;
  int first = blockIdx.x * channels;
  size_t base = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * count;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    float v = x[base + i];
    sums.x += v;
    sums.y += v * v;
  }
  sums = block_sums(sums);
  float mean = sums.x / count;
  float scale = rsqrtf(fmaxf(sums.y / count - mean * mean, 0.0f) + eps);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    int c = first + i / space;
    y[base + i] = (x[base + i] - mean) * scale * weight[c] + bias[c];
  }
}
