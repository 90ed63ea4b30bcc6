//! kernelwright 1
//! task    reverse_tiles
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  reverse_tiles grid(ceil_div(N, 128)) block(128) args(x, y, N)
#include <cuda_pipeline.h>

// Elements past the end are zero-filled by the copy itself.
__global__ void reverse_tiles(const int* x, int* y, int n) {
  __shared__ int tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  __pipeline_memcpy_async(&tile[threadIdx.x], i < n ? &x[i] : x, 4, i < n ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (i < n) y[i] = tile[127 - threadIdx.x];
}
