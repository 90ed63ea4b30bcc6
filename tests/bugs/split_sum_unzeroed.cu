//! kernelwright 1
//! task    row_sums
//! input   x: fp32[R, C]
//! output  y: fp32[R]
//! when    C % 64 == 0
//! launch  row_sums grid(R, C / 64) block(32) args(x, y, C)
//? dims R=3 C=256

// Bug: parts of each sum are added to an output that holds nothing yet.
__global__ void row_sums(const float* x, float* y, int cols) {
  const float* part = x + blockIdx.x * cols + blockIdx.y * 64;
  float sum = part[threadIdx.x] + part[threadIdx.x + 32];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) atomicAdd(y + blockIdx.x, sum);  //~ uninitialised-use
}
