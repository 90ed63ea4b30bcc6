//! kernelwright 1
//! task    dot
//! input   a: fp32[N]
//! input   b: fp32[N]
//! output  y: fp32[]
//! let     blocks = min(ceil_div(N, 512), 48)
//! scratch partial: fp32[blocks]
//! scratch arrived: uint32[1] = 0 kept
//! when    true
//! launch  dot grid(blocks) block(128) args(a, b, partial, arrived, y, N)

// The block that arrives last adds the partial sums, in a fixed order, and leaves the counter as it found it.
__global__ void dot(const float* a, const float* b, float* partial, unsigned* arrived, float* y, int n) {
  __shared__ float slots[4];
  __shared__ bool last;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = fmaf(a[i], b[i], sum);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = slots[0] + slots[1] + slots[2] + slots[3];
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 32) {
    float total = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += 32) total += __ldcg(&partial[i]);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
    if (threadIdx.x == 0) {
      y[0] = total;
      *arrived = 0;
    }
  }
}
