//! kernelwright 1
//! task    pass_on
//! input   x: int32[128]
//! output  y: int32[256]
//! scratch data: int32[64] = 0
//! scratch done: uint32[4] = 0
//! when    true
//! launch  pass_on grid(4) block(64) args(x, data, done, y)
//? dims
//? certain

// Bug: the last block writes when two of the three blocks that read have said that they are done.
__global__ void pass_on(const int* x, int* data, unsigned* done, int* y) {
  int t = threadIdx.x, sum = 0;
  if (blockIdx.x < 3) {
    sum = data[63 - t];  //~ global-race-between-blocks
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&done[blockIdx.x], 1u);
  } else {
    if (t == 0) {
      for (int b = 0; b < 2; ++b)
        while (atomicAdd(&done[b], 0u) == 0) {
        }
      __threadfence();
    }
    __syncthreads();
    data[t] = x[t];  //~ global-race-between-blocks
  }
  y[blockIdx.x * 64 + t] = sum + x[t];
}
