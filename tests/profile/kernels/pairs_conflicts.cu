//! kernelwright 1
//! task   pairs
//! input  x: fp32[B, 512]
//! output y: fp32[B, 256]
//! launch pairs grid(B) block(256) args(x, y)
// Neighbours added out of shared memory two words apart: two lanes of a warp meet in every bank.
__global__ void pairs(const float* x, float* y) {
  __shared__ float row[512];
  for (int i = threadIdx.x; i < 512; i += 256) row[i] = x[blockIdx.x * 512ll + i];
  __syncthreads();
  volatile const float* at = row + 2 * threadIdx.x;
  y[blockIdx.x * 256ll + threadIdx.x] = at[0] + at[1];
}
