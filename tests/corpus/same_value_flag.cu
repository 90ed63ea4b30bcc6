//! kernelwright 1
//! task    any_above
//! input   x: fp32[R, C]
//! output  y: int32[R]
//! when    true
//! launch  any_above grid(R) block(128) args(x, y, C)

// Whoever finds one sets the flag; the updates are atomic although all write the same value.
__global__ void any_above(const float* x, int* y, int cols) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    if (x[blockIdx.x * cols + c] > 3.5f) atomicExch(&found, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = found;
}
