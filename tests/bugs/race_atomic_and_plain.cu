//! kernelwright 1
//! task    count_positive
//! input   x: fp32[R, 128]
//! output  y: int32[R]
//! when    true
//! launch  count_positive grid(R) block(128) args(x, y)
//? dims R=2
//? also missing-syncwarp uninitialised-use

// Bug: the counter is cleared by a plain store that no barrier separates from the atomics.
__global__ void count_positive(const float* x, int* y) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;  //~ shared-race
  if (x[blockIdx.x * 128 + threadIdx.x] > 0.0f) atomicAdd(&count, 1);  //~ shared-race
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = count;
}
