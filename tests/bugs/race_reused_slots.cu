//! kernelwright 1
//! task    mean_and_square
//! input   x: fp32[R, 128]
//! output  y: fp32[R, 2]
//! when    true
//! launch  mean_and_square grid(R) block(128) args(x, y)
//? dims R=2

// Bug: the second reduction overwrites the slots while other warps still read the first one's.
__device__ float block_sum(float v, float* slots) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;  //~ shared-race
  __syncthreads();
  return slots[0] + slots[1] + slots[2] + slots[3];  //~ shared-race
}

__global__ void mean_and_square(const float* x, float* y) {
  __shared__ float slots[4];
  float v = x[blockIdx.x * 128 + threadIdx.x];
  float sum = block_sum(v, slots);
  float squares = block_sum(v * v, slots);
  if (threadIdx.x == 0) {
    y[blockIdx.x * 2] = sum / 128.0f;
    y[blockIdx.x * 2 + 1] = squares;
  }
}
