//! kernelwright 1
//! task    any_negative
//! input   x: fp32[R, 96]
//! output  y: int32[R]
//! when    true
//! launch  any_negative grid(R) block(96) args(x, y)
//? dims R=2

// Mended twin of: every thread writes the flag, with different values, in the same interval.
__global__ void any_negative(const float* x, int* y) {
  __shared__ int found;
  int negative = x[blockIdx.x * 96 + threadIdx.x] < 0.0f;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (negative) atomicOr(&found, 1);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = found;
}
